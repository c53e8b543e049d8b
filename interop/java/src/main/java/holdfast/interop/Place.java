package holdfast.interop;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RSemaphore;

/** What workers enter and leave: a lock, one of the places that there are, or what a rate allows. Each is left by the thread that entered it. */
interface Place {
    /** A wait below 0 has no limit, a lease below 0 is the watchdog's, or none. */
    boolean enter(long wait, long lease) throws InterruptedException;

    void leave();

    static Place of(Object object) {
        if (object instanceof RSemaphore) {
            return new Counted((RSemaphore) object);
        }
        if (object instanceof RRateLimiter) {
            return new Limited((RRateLimiter) object);
        }
        return object instanceof RPermitExpirableSemaphore
            ? new WithIds((RPermitExpirableSemaphore) object) : new Locked((RLock) object);
    }

    /** A lock. */
    final class Locked implements Place {
        final RLock lock;

        Locked(RLock lock) {
            this.lock = lock;
        }

        @Override
        public boolean enter(long wait, long lease) throws InterruptedException {
            if (wait >= 0) {
                return lock.tryLock(wait, lease, TimeUnit.MILLISECONDS);
            }
            lock.lock(lease, TimeUnit.MILLISECONDS);
            return true;
        }

        @Override
        public void leave() {
            lock.unlock();
        }
    }

    /** A semaphore, which knows nothing of leases. */
    final class Counted implements Place {
        private final RSemaphore semaphore;

        Counted(RSemaphore semaphore) {
            this.semaphore = semaphore;
        }

        @Override
        public boolean enter(long wait, long lease) throws InterruptedException {
            if (wait >= 0) {
                return semaphore.tryAcquire(1, wait, TimeUnit.MILLISECONDS);
            }
            semaphore.acquire();
            return true;
        }

        @Override
        public void leave() {
            semaphore.release();
        }
    }

    /** A rate: of what was had nothing is given back. */
    final class Limited implements Place {
        private final RRateLimiter limiter;

        Limited(RRateLimiter limiter) {
            this.limiter = limiter;
        }

        @Override
        public boolean enter(long wait, long lease) {
            if (wait >= 0) {
                return limiter.tryAcquire(1, wait, TimeUnit.MILLISECONDS);
            }
            limiter.acquire();
            return true;
        }

        @Override
        public void leave() {
        }
    }

    /** Permits with an id, which the thread that has it remembers. */
    final class WithIds implements Place {
        private final RPermitExpirableSemaphore semaphore;
        private final ThreadLocal<String> id = new ThreadLocal<>();

        WithIds(RPermitExpirableSemaphore semaphore) {
            this.semaphore = semaphore;
        }

        @Override
        public boolean enter(long wait, long lease) throws InterruptedException {
            String had = wait >= 0 ? semaphore.tryAcquire(wait, lease, TimeUnit.MILLISECONDS)
                : lease < 0 ? semaphore.acquire() : semaphore.acquire(lease, TimeUnit.MILLISECONDS);
            id.set(had);
            return had != null;
        }

        @Override
        public void leave() {
            semaphore.release(id.get());
        }
    }
}
