package holdfast.interop;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.Codec;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;

/** The Redisson instances of this process, by the names that the caller gave them. */
final class Clients {
    private static final String CLUSTER = "redis+cluster://";
    /** By name: not every version has what each of them needs. */
    private static final Map<String, String> CODECS = Map.of(
        "string", "org.redisson.client.codec.StringCodec",
        "long", "org.redisson.client.codec.LongCodec",
        "json", "org.redisson.codec.JsonJacksonCodec");

    private final Map<String, RedissonClient> open = new ConcurrentHashMap<>();
    private final Map<List<String>, Object> objects = new ConcurrentHashMap<>();

    /** The same one each time: an object of Redisson remembers things, as the lease of its last acquire. */
    Object object(String client, String kind, String name) throws ReflectiveOperationException {
        if (!open.containsKey(client)) {
            throw new IllegalArgumentException("no such client: " + client);
        }
        List<String> key = List.of(client, kind, name);
        Object object = objects.get(key);
        if (object == null) {
            object = Kinds.find(open.get(client), kind, name);
            objects.put(key, object);
        }
        return object;
    }

    RedissonClient client(String name) {
        return open.get(name);
    }

    String open(Request request) throws Exception {
        RedissonClient client = Redisson.create(request.has("file") ? config(request.text("file")) : config(request));
        open.put(request.text("client"), client);
        return id(client);
    }

    static Config config(String file) throws IOException {
        return Config.fromYAML(new File(file));
    }

    /** Each option is a setter of Config or of the servers' own, except `codec`. */
    private static Config config(Request request) throws Exception {
        Config config = new Config();
        Class<?> codec = Class.forName(CODECS.get(request.text("codec", "string")));
        config.setCodec((Codec) codec.getConstructor().newInstance());
        Object server = servers(config, request.text("url"));
        for (Map.Entry<String, Object> option : request.map("options").entrySet()) {
            if (!set(config, option) && !set(server, option)) {
                throw new NoSuchMethodException("this version has no option " + option.getKey());
            }
        }
        return config;
    }

    /** One server, or those of a cluster: `redis+cluster://host:port,host:port`. */
    private static Object servers(Config config, String url) {
        if (!url.startsWith(CLUSTER)) {
            SingleServerConfig server = config.useSingleServer();
            server.setAddress(url);
            server.setConnectionMinimumIdleSize(1);
            server.setSubscriptionConnectionMinimumIdleSize(1);
            return server;
        }
        ClusterServersConfig cluster = config.useClusterServers();
        for (String address : url.substring(CLUSTER.length()).split(",")) {
            cluster.addNodeAddress("redis://" + address);
        }
        cluster.setMasterConnectionMinimumIdleSize(1);
        cluster.setSlaveConnectionMinimumIdleSize(1);
        cluster.setSubscriptionConnectionMinimumIdleSize(1);
        return cluster;
    }

    boolean close(Request request) {
        RedissonClient client = open.remove(request.text("client"));
        objects.keySet().removeIf(key -> key.get(0).equals(request.text("client")));
        if (client != null) {
            client.shutdown();
        }
        return client != null;
    }

    private static boolean set(Object config, Map.Entry<String, Object> option) throws Exception {
        String name = option.getKey();
        String setter = "set" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
        for (Method method : config.getClass().getMethods()) {
            if (method.getName().equals(setter) && method.getParameterCount() == 1) {
                method.invoke(config, Calls.convert(option.getValue(), method.getParameterTypes()[0]));
                return true;
            }
        }
        return false;
    }

    /** Old versions do not tell it. */
    private static String id(RedissonClient client) throws Exception {
        try {
            return (String) client.getClass().getMethod("getId").invoke(client);
        } catch (NoSuchMethodException old) {
            Field field = Redisson.class.getDeclaredField("connectionManager");
            field.setAccessible(true);
            Object manager = field.get(client);
            Method getId = Class.forName("org.redisson.connection.ConnectionManager").getMethod("getId");
            return getId.invoke(manager).toString();
        }
    }
}
