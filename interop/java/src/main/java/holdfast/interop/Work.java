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
 * Workers that take and give back one lock for some seconds, and tell each step as it happens.
 *
 *   workers, seconds, startAt (ms, monotonic), seed
 *   hold, pause   [least, most] ms inside, and between two visits
 *   leases        one is drawn for each visit; 0 is the watchdog
 *   timeouts      share of visits that wait at most `wait` ([least, most] ms)
 *   aborts        share of visits that are interrupted after `abortAfter` ([least, most] ms)
 *
 * Lines: {work, worker, event, at [, lease] [, reason]}; event: invoke, granted, releasing, released, refused, failed, and orphan
 * where an interrupted acquire left a hold behind.
 */
final class Work {
    private final Request request;
    private final RLock lock;
    private final Answers answers;
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final double end;

    Work(Request request, Object lock, Answers answers) {
        this.request = request;
        this.lock = (RLock) lock;
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
            List<Object> leases = request.list("leases");
            long lease = leases.isEmpty() ? 0 : ((Number) leases.get(random.nextInt(leases.size()))).longValue();
            tell("invoke", "lease", lease);
            String refused;
            try {
                refused = acquire(lease <= 0 ? -1 : lease);
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
            tell("releasing", null, null);
            try {
                lock.unlock();
                tell("released", null, null);
            } catch (Throwable error) {
                tell("failed", "reason", Answers.cause(error).toString());
            }
        }

        /** Null when it was had. */
        private String acquire(long lease) throws InterruptedException {
            double draw = random.nextDouble();
            double timeouts = request.number("timeouts", 0);
            if (draw < timeouts) {
                return lock.tryLock((long) between("wait", 10), lease, TimeUnit.MILLISECONDS) ? null : "timeout";
            }
            if (draw < timeouts + request.number("aborts", 0)) {
                return acquireOrBeInterrupted(lease);
            }
            lock.lock(lease, TimeUnit.MILLISECONDS);
            return null;
        }

        private String acquireOrBeInterrupted(long lease) {
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
                giveBackOrphan();
            }
            return aborted ? "abort" : null;
        }

        /** Interrupted while its command was on its way, Redisson throws and holds the lock all the same. */
        private void giveBackOrphan() {
            until(Answers.now() + 5);
            if (lock.isHeldByCurrentThread()) {
                tell("orphan", null, null);
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

        private void tell(String event, String detail, Object value) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("work", request.id());
            line.put("worker", name);
            line.put("event", event);
            line.put("at", Answers.now());
            if (detail != null) {
                line.put(detail, value);
            }
            answers.print(line);
        }
    }
}
