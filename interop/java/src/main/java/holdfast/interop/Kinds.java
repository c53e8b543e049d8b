package holdfast.interop;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Kinds of objects: by which method of the client one is got, and by which method of that one. */
final class Kinds {
    private static final Map<String, String[]> KINDS = Map.ofEntries(
        Map.entry("plain", new String[] {"getLock"}),
        Map.entry("fair", new String[] {"getFairLock"}),
        Map.entry("nonReentrant", new String[] {"getNonReentrantLock"}),
        Map.entry("nonReentrantFair", new String[] {"getNonReentrantFairLock"}),
        Map.entry("spin", new String[] {"getSpinLock"}),
        Map.entry("fenced", new String[] {"getFencedLock"}),
        Map.entry("read", new String[] {"getReadWriteLock", "readLock"}),
        Map.entry("write", new String[] {"getReadWriteLock", "writeLock"}),
        Map.entry("semaphore", new String[] {"getSemaphore"}),
        Map.entry("permits", new String[] {"getPermitExpirableSemaphore"}),
        Map.entry("latch", new String[] {"getCountDownLatch"}),
        Map.entry("limiter", new String[] {"getRateLimiter"}),
        Map.entry("topic", new String[] {"getTopic"}),
        Map.entry("patternTopic", new String[] {"getPatternTopic"}));

    private Kinds() {
    }

    static Object find(RedissonClient client, String kind, String name) throws ReflectiveOperationException {
        if (kind.equals("script")) {
            return client.getScript();
        }
        if (kind.startsWith("keyed:")) {
            // The overload for a group: the other one takes locks.
            Object keys = List.of(kind.substring("keyed:".length()).split(",", -1));
            return RedissonClient.class.getMethod("getMultiLock", String.class, Collection.class).invoke(client, name, keys);
        }
        if (kind.startsWith("multi:")) {
            return new RedissonMultiLock(members(client, kind, name));
        }
        if (kind.startsWith("red:")) {
            return new RedissonRedLock(members(client, kind, name));
        }
        String[] path = KINDS.get(kind);
        if (path == null) {
            throw new IllegalArgumentException("no such kind: " + kind);
        }
        Object found = RedissonClient.class.getMethod(path[0], String.class).invoke(client, name);
        for (int i = 1; i < path.length; i++) {
            found = Calls.choose(found.getClass(), path[i], List.of()).invoke(found);
        }
        return found;
    }

    /** Of the kinds behind the colon, named `name:0` and on. */
    private static RLock[] members(RedissonClient client, String kind, String name) throws ReflectiveOperationException {
        String[] kinds = kind.substring(kind.indexOf(':') + 1).split(",");
        RLock[] locks = new RLock[kinds.length];
        for (int i = 0; i < locks.length; i++) {
            locks[i] = (RLock) find(client, kinds[i], name + ":" + i);
        }
        return locks;
    }
}
