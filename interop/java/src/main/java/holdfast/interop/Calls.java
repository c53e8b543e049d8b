package holdfast.interop;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import org.redisson.client.protocol.RedisCommands;
import org.redisson.client.protocol.RedisStrictCommand;

/** Calls any method of any object by its name. What a version does not have is a NoSuchMethodException. */
final class Calls {
    private final Answers answers;
    private final Threads threads;
    private final Map<Long, Future<?>> pending = new ConcurrentHashMap<>();

    Calls(Answers answers, Threads threads) {
        this.answers = answers;
        this.threads = threads;
    }

    void make(Request request, Object object) throws Throwable {
        Method method = choose(object.getClass(), request.text("method"), request.list("args"));
        if (!request.has("on") && CompletionStage.class.isAssignableFrom(method.getReturnType())) {
            call(request, object, method);
        } else {
            threads.run(request.text("on", "others"), () -> call(request, object, method));
        }
    }

    boolean cancel(long call) {
        Future<?> future = pending.remove(call);
        return future != null && future.cancel(true);
    }

    private void call(Request request, Object object, Method method) {
        double start = Answers.now();
        try {
            Object result = method.invoke(object, convert(request.list("args"), method));
            if (result instanceof CompletionStage) {
                await(request, (CompletionStage<?>) result, start);
            } else {
                answers.value(request, result, start);
            }
        } catch (Throwable error) {
            answers.error(request, error, start);
        }
    }

    private void await(Request request, CompletionStage<?> stage, double start) {
        if (stage instanceof Future) {
            pending.put(request.id(), (Future<?>) stage);
        }
        stage.whenComplete((value, error) -> {
            pending.remove(request.id());
            if (error == null) {
                answers.value(request, value, start);
            } else {
                answers.error(request, error, start);
            }
        });
    }

    /** The method of that name that takes these arguments: a public one, or else one of the class's own inner steps. */
    static Method choose(Class<?> type, String name, List<Object> args) throws NoSuchMethodException {
        Method found = among(type.getMethods(), name, args);
        for (Class<?> owner = type; found == null && owner != null; owner = owner.getSuperclass()) {
            found = among(owner.getDeclaredMethods(), name, args);
        }
        if (found == null) {
            throw new NoSuchMethodException(type.getSimpleName() + "." + name + " of " + args);
        }
        found.setAccessible(true);
        return found;
    }

    private static Method among(Method[] methods, String name, List<Object> args) {
        Method found = null;
        for (Method method : methods) {
            boolean better = found == null || found.isBridge();
            if (better && method.getName().equals(name) && takes(method, args)) {
                found = method;
            }
        }
        return found;
    }

    private static boolean takes(Method method, List<Object> args) {
        Class<?>[] types = method.getParameterTypes();
        if (types.length != args.size()) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            if (!fits(args.get(i), types[i])) {
                return false;
            }
        }
        return true;
    }

    private static boolean fits(Object value, Class<?> type) {
        if (type == long.class || type == int.class || type == double.class || type == Long.class) {
            return value instanceof Number;
        }
        if (type == boolean.class) {
            return value instanceof Boolean;
        }
        if (type.isArray()) {
            return value instanceof List;
        }
        return type.isEnum() || type == RedisStrictCommand.class ? value instanceof String : type.isInstance(value);
    }

    private static Object[] convert(List<Object> args, Method method) throws ReflectiveOperationException {
        Object[] converted = new Object[args.size()];
        for (int i = 0; i < converted.length; i++) {
            converted[i] = convert(args.get(i), method.getParameterTypes()[i]);
        }
        return converted;
    }

    /** A command is meant by the name of its constant in RedisCommands. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static Object convert(Object value, Class<?> type) throws ReflectiveOperationException {
        if (type == RedisStrictCommand.class) {
            return RedisCommands.class.getField(value.toString()).get(null);
        }
        if (type == long.class || type == Long.class) {
            return ((Number) value).longValue();
        }
        if (type == int.class) {
            return ((Number) value).intValue();
        }
        if (type == double.class) {
            return ((Number) value).doubleValue();
        }
        if (type.isArray()) {
            return several((List<Object>) value, type.getComponentType());
        }
        return type.isEnum() ? Enum.valueOf((Class<Enum>) type, value.toString()) : ofJava(value);
    }

    /** What a call takes any number of; whole numbers are int where they can be. */
    private static Object several(List<Object> values, Class<?> type) {
        Object array = Array.newInstance(type, values.size());
        for (int i = 0; i < values.size(); i++) {
            Object value = values.get(i);
            boolean small = value instanceof Long && ((Long) value).intValue() == (Long) value;
            Array.set(array, i, small ? (Object) ((Long) value).intValue() : ofJava(value));
        }
        return array;
    }

    /** Maps of Java's own instead of the JSON reader's. */
    private static Object ofJava(Object value) {
        if (value instanceof List) {
            List<Object> list = new ArrayList<>();
            ((List<?>) value).forEach(item -> list.add(ofJava(item)));
            return list;
        }
        if (value instanceof Map) {
            Map<Object, Object> map = new LinkedHashMap<>();
            ((Map<?, ?>) value).forEach((key, item) -> map.put(key, ofJava(item)));
            return map;
        }
        return value;
    }
}
