package holdfast.interop;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RLock;

/**
 * Threads that take and give back one lock as fast as they can: waiters, hold (ms), seconds, startAt (ms, monotonic),
 * warmup (s). The answer comes when the time is over: handoffs, seconds, wait times in ms, CPU time of this process.
 * The threads end when they had their last turn; a caller who does not want to wait for that kills the process.
 */
final class Bench {
    private static final int MOST = 2_000_000;

    private final Request request;
    private final RLock lock;
    private final Answers answers;
    private final double[] waits = new double[MOST];
    private final AtomicInteger handoffs = new AtomicInteger();
    private volatile boolean counting;
    private volatile boolean over;

    Bench(Request request, Object lock, Answers answers) {
        this.request = request;
        this.lock = (RLock) lock;
        this.answers = answers;
    }

    void start() {
        double startAt = request.number("startAt", Answers.now());
        for (int i = 0; i < (int) request.number("waiters", 1); i++) {
            Thread thread = new Thread(null, () -> {
                Work.until(startAt);
                loop();
            }, "waiter", 256 * 1024);
            thread.setDaemon(true);
            thread.start();
        }
        new Thread(() -> measure(startAt)).start();
    }

    private void loop() {
        double hold = request.number("hold", 0);
        while (!over) {
            double asked = Answers.now();
            lock.lock();
            double wait = Answers.now() - asked;
            if (counting) {
                int index = handoffs.getAndIncrement();
                if (index < MOST) {
                    waits[index] = wait;
                }
            }
            if (hold > 0 && !over) {
                Work.until(Answers.now() + hold);
            }
            lock.unlock();
        }
    }

    private void measure(double startAt) {
        double from = startAt + 1000 * request.number("warmup", 0);
        Work.until(from);
        long cpu = cpuTime();
        counting = true;
        Work.until(from + 1000 * request.number("seconds", 1));
        counting = false;
        double seconds = (Answers.now() - from) / 1000;
        over = true;
        int count = Math.min(handoffs.get(), MOST);
        double[] sorted = Arrays.copyOf(waits, count);
        Arrays.sort(sorted);
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("handoffs", handoffs.get());
        result.put("seconds", seconds);
        for (double share : new double[] {0.5, 0.9, 0.99, 1}) {
            String name = share == 1 ? "max" : "p" + (int) Math.round(share * 100);
            result.put(name, count == 0 ? null : sorted[Math.min(count - 1, (int) (share * count))]);
        }
        result.put("cpuMs", (cpuTime() - cpu) / 1e6);
        answers.value(request, result);
    }

    private static long cpuTime() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime();
    }
}
