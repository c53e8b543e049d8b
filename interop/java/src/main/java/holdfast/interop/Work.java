package holdfast.interop;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RLock;
import org.redisson.client.RedisException;

/**
 * Workers that take and give back one lock, or one of several places, or take of a rate, for some seconds, and tell each step as
 * it happens.
 *
 *   workers, seconds, startAt (ms, monotonic), seed
 *   hold, pause   [least, most] ms inside, and between two visits
 *   leases        one is drawn for each visit; 0 is the watchdog
 *   timeouts      share of visits that wait at most `wait` ([least, most] ms)
 *   reads         share of visits that read; the object is the writing side of a read-write lock then
 *   aborts        share of visits that are interrupted after `abortAfter` ([least, most] ms); of locks only
 *
 * Lines: {work, worker, event, at [, lease] [, mode] [, reason]}; event: invoke, granted, releasing, released, refused, failed, and orphan
 * where an interrupted acquire left a hold behind.
 */
final class Work {
    private final Request request;
    private final Place place;
    private final Place readers;
    private final Answers answers;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final double end;

    Work(Request request, Object object, Object reader, Answers answers) {
        this.request = request;
        this.place = Place.of(object);
        this.readers = Place.of(reader);
        this.answers = answers;
        this.end = request.number("startAt", Answers.now()) + 1000 * request.number("seconds", 1);
    }

    void start() {
        int workers = (int) request.number("workers", 1);
        CountDownLatch running = new CountDownLatch(workers);
        for (int i = 0; i < workers; i++) {
            Worker worker = new Worker("w" + i, new Random((long) request.number("seed", 1) * 1000 + i));
            new Thread(() -> {
                try {
                    worker.run();
                } finally {
                    running.countDown();
                }
            }).start();
        }
        new Thread(() -> {
            try {
                running.await();
                timer.shutdownNow();
                answers.value(request, workers);
            } catch (InterruptedException error) {
                answers.error(request, error);
            }
        }).start();
    }

    static void until(double time) {
        for (double left = time - Answers.now(); left > 0; left = time - Answers.now()) {
            LockSupport.parkNanos((long) (left * 1e6));
        }
    }

    private final class Worker {
        private final String name;
        private final Random random;

        Worker(String name, Random random) {
            this.name = name;
            this.random = random;
        }

        void run() {
            until(request.number("startAt", Answers.now()));
            while (Answers.now() < end) {
                visit();
                until(Answers.now() + between("pause", 0));
            }
        }

        private void visit() {
            boolean reads = random.nextDouble() < request.number("reads", 0);
            Place place = reads ? readers : Work.this.place;
            List<Object> leases = request.list("leases");
            long lease = leases.isEmpty() ? 0 : ((Number) leases.get(random.nextInt(leases.size()))).longValue();
            tell("invoke", "lease", lease, "mode", reads ? "read" : "write");
            String refused;
            try {
                refused = acquire(place, lease <= 0 ? -1 : lease);
            } catch (Throwable error) {
                tell("refused", "reason", Answers.cause(error).toString());
                return;
            }
            if (refused != null) {
                tell("refused", "reason", refused);
                return;
            }
            tell("granted", "lease", lease);
            until(Answers.now() + between("hold", 1));
            tell("releasing");
            try {
                place.leave();
                tell("released");
            } catch (Throwable error) {
                tell("failed", "reason", Answers.cause(error).toString());
            }
        }

        /** Null when it was had. */
        private String acquire(Place place, long lease) throws InterruptedException {
            double draw = random.nextDouble();
            double timeouts = request.number("timeouts", 0);
            if (draw < timeouts) {
                return place.enter((long) between("wait", 10), lease) ? null : "timeout";
            }
            if (draw < timeouts + request.number("aborts", 0)) {
                return acquireOrBeInterrupted(((Place.Locked) place).lock, lease);
            }
            place.enter(-1, lease);
            return null;
        }

        private String acquireOrBeInterrupted(RLock lock, long lease) {
            Thread thread = Thread.currentThread();
            boolean[] over = {false};
            ScheduledFuture<?> alarm = timer.schedule(() -> {
                synchronized (over) {
                    if (!over[0]) {
                        thread.interrupt();
                    }
                }
            }, (long) (between("abortAfter", 10) * 1000), TimeUnit.MICROSECONDS);
            boolean aborted = false;
            try {
                lock.lockInterruptibly(lease, TimeUnit.MILLISECONDS);
            } catch (InterruptedException interrupted) {
                aborted = true;
            } catch (RedisException error) {
                if (!(error.getCause() instanceof InterruptedException)) {
                    throw error;
                }
                aborted = true;
            } finally {
                synchronized (over) {
                    over[0] = true;
                }
                alarm.cancel(false);
                Thread.interrupted();
            }
            if (aborted) {
                giveBackOrphan(lock);
            }
            return aborted ? "abort" : null;
        }

        /** Interrupted while its command was on its way, Redisson throws and holds the lock all the same. */
        private void giveBackOrphan(RLock lock) {
            until(Answers.now() + 5);
            if (lock.isHeldByCurrentThread()) {
                tell("orphan");
                lock.unlock();
            }
        }

        private double between(String range, double otherwise) {
            List<Object> ends = request.list(range);
            if (ends.isEmpty()) {
                return otherwise;
            }
            double least = ((Number) ends.get(0)).doubleValue();
            return least + random.nextDouble() * (((Number) ends.get(1)).doubleValue() - least);
        }

        /** Names and values in turn. */
        private void tell(String event, Object... details) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("work", request.id());
            line.put("worker", name);
            line.put("event", event);
            line.put("at", Answers.now());
            for (int i = 0; i < details.length; i += 2) {
                line.put(details[i].toString(), details[i + 1]);
            }
            answers.print(line);
        }
    }
}
