package holdfast.interop;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.redisson.api.RLock;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RSemaphore;
import org.redisson.api.RateIntervalUnit;
import org.redisson.api.RateType;

/**
 * Threads that take and give back locks as fast as they can, each its own or all of them one: names, callers, hold (ms),
 * startAt (ms, monotonic), warm and seconds (s), drains; of a semaphore, how many places it has; of a limiter, how many
 * permits a second; of a read-write lock, what
 * part of the calls reads, each in one place: a write takes all. The answer has the same fields as that of one of Node's
 * processes (bench/base/load.ts). It comes when all threads had their last turn, or `patience` ms after the time is over;
 * where the line shall not drain, when the time is over: such a process is to be killed.
 */
final class Bench {
    private final Request request;
    private final List<Object> locks;
    private final List<Object> readers;
    private final double reads;
    private final int places;
    private final Answers answers;
    private final AtomicInteger[] inside;
    private final double hold;
    private final double from;
    private final double until;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final Recorder waits = new Recorder();
    private final Recorder stays = new Recorder();
    private final int[] visits;
    /** Of each caller, since when it waits; infinite where it does not. */
    private final double[] waitsSince;
    private int pairs;
    private int total;
    private int crowded;
    private double held;
    private double longest;

    Bench(Request request, List<Object> locks, List<Object> readers, Answers answers) {
        this.readers = readers;
        this.reads = request.number("reads", 0);
        this.request = request;
        this.places = (int) request.number("places", 1);
        this.locks = locks;
        this.answers = answers;
        this.visits = new int[(int) request.number("callers", 1)];
        this.waitsSince = new double[visits.length];
        Arrays.fill(waitsSince, Double.POSITIVE_INFINITY);
        this.inside = locks.stream().map(lock -> new AtomicInteger()).toArray(AtomicInteger[]::new);
        this.hold = request.number("hold", 0);
        this.from = request.number("startAt", Answers.now()) + 1000 * request.number("warm", 0);
        this.until = from + 1000 * request.number("seconds", 1);
    }

    void start() {
        double startAt = request.number("startAt", Answers.now());
        int callers = (int) request.number("callers", 1);
        CountDownLatch running = new CountDownLatch(callers);
        for (int i = 0; i < callers; i++) {
            int place = i % locks.size();
            int index = i;
            Thread thread = new Thread(null, () -> {
                Work.until(startAt);
                try {
                    call(locks.get(place), readers.get(place), inside[place], index);
                } catch (Throwable error) {
                    failure.compareAndSet(null, error);
                } finally {
                    running.countDown();
                }
            }, "caller", 256 * 1024);
            thread.setDaemon(true);
            thread.start();
        }
        new Thread(() -> answer(startAt, running)).start();
    }

    private void call(Object lock, Object reader, AtomicInteger within, int index) throws InterruptedException {
        if (lock instanceof RSemaphore) {
            ((RSemaphore) lock).trySetPermits(places);
        } else if (lock instanceof RRateLimiter) {
            ((RRateLimiter) lock).trySetRate(RateType.OVERALL, places, 1, RateIntervalUnit.SECONDS);
        }
        for (double asked = Answers.now(); asked < until; asked = Answers.now()) {
            boolean isRead = ThreadLocalRandom.current().nextDouble() < reads;
            Object mine = isRead ? reader : lock;
            int takes = reads > 0 && !isRead ? places : 1;
            waits(index, asked);
            enter(mine);
            double had = Answers.now();
            enters(index, asked, had);
            boolean rival = within.addAndGet(takes) > places && !(lock instanceof RRateLimiter);
            if (hold > 0) {
                Work.until(Answers.now() + hold);
            }
            within.addAndGet(-takes);
            record(asked, had, Answers.now(), rival, takes, index);
            leave(mine);
        }
    }

    private static void enter(Object lock) throws InterruptedException {
        if (lock instanceof RSemaphore) {
            ((RSemaphore) lock).acquire();
        } else if (lock instanceof RRateLimiter) {
            ((RRateLimiter) lock).acquire();
        } else {
            ((RLock) lock).lock();
        }
    }

    private static void leave(Object lock) {
        if (lock instanceof RSemaphore) {
            ((RSemaphore) lock).release();
        } else if (lock instanceof RLock) {
            ((RLock) lock).unlock();
        }
    }

    private synchronized void waits(int index, double asked) {
        waitsSince[index] = asked;
    }

    private synchronized void enters(int index, double asked, double had) {
        waitsSince[index] = Double.POSITIVE_INFINITY;
        if (had >= from) {
            longest = Math.max(longest, had - asked);
        }
    }

    private synchronized void record(double asked, double had, double left, boolean rival, int takes, int index) {
        total++;
        if (had >= from && had < until) {
            pairs++;
            visits[index]++;
        }
        crowded += rival ? 1 : 0;
        held += left - had;
        if (asked >= from) {
            waits.add(had - asked);
        }
        // Stays at different locks may overlap.
        for (int i = 0; i < takes && locks.size() == 1; i++) {
            stays.add(1000 * had);
            stays.add(1000 * left);
        }
    }

    private void answer(double startAt, CountDownLatch running) {
        Work.until(startAt);
        long cpu = cpuTime();
        try {
            double patience = request.is("drains") ? request.number("patience", 0) : 0;
            running.await((long) (until + patience - Answers.now()), TimeUnit.MILLISECONDS);
            if (failure.get() != null) {
                throw failure.get();
            }
            answers.value(request, sample((cpuTime() - cpu) / 1e3, running.getCount()));
        } catch (Throwable error) {
            answers.error(request, error);
        }
    }

    private synchronized Map<String, Object> sample(double cpu, long asleep) {
        double now = Answers.now();
        double waiting = now - Arrays.stream(waitsSince).min().orElse(now);
        Map<String, Object> sample = new LinkedHashMap<>();
        sample.put("longest", Math.max(longest, waiting));
        sample.put("pairs", pairs);
        sample.put("total", total);
        sample.put("waits", waits.values());
        sample.put("stays", stays.values());
        sample.put("crowded", crowded);
        sample.put("visits", Arrays.stream(visits).boxed().toList());
        sample.put("held", held);
        sample.put("cpu", cpu);
        sample.put("asleep", asleep);
        return sample;
    }

    private static long cpuTime() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime();
    }

    /** Numbers, without making garbage of each. */
    private static final class Recorder {
        private double[] values = new double[4096];
        private int count;

        void add(double value) {
            if (count == values.length) {
                values = Arrays.copyOf(values, 2 * count);
            }
            values[count++] = value;
        }

        List<Double> values() {
            return Arrays.stream(values, 0, count).boxed().toList();
        }
    }
}
