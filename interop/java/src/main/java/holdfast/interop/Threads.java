package holdfast.interop;

import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;

/** Real threads by name: Redisson takes the id of the calling thread for the owner. */
final class Threads {
    private static final class Worker extends Thread {
        private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

        Worker(String name) {
            super(name);
            setDaemon(true);
        }

        @Override
        public void run() {
            while (true) {
                try {
                    tasks.take().run();
                } catch (InterruptedException late) {
                    // It came when the call was over.
                }
            }
        }
    }

    private final Map<String, Worker> workers = new ConcurrentHashMap<>();

    private Worker worker(String name) {
        return workers.computeIfAbsent(name, key -> {
            Worker worker = new Worker(key);
            worker.start();
            return worker;
        });
    }

    void run(String name, Runnable task) {
        worker(name).tasks.add(task);
    }

    long id(String name) {
        return worker(name).getId();
    }

    boolean interrupt(String name) {
        worker(name).interrupt();
        return true;
    }
}
