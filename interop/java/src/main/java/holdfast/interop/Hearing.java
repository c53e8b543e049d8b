package holdfast.interop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Listens to a topic or a pattern until so many messages were heard. Old versions have other types, so by reflection. */
final class Hearing {
    private final Request request;
    private final Object topic;
    private final Answers answers;
    private final AtomicInteger heard = new AtomicInteger();

    Hearing(Request request, Object topic, Answers answers) {
        this.request = request;
        this.topic = topic;
        this.answers = answers;
    }

    void start() throws ReflectiveOperationException {
        for (Method method : topic.getClass().getMethods()) {
            Class<?>[] types = method.getParameterTypes();
            if (!method.getName().equals("addListener") || types.length != 2 || types[0] != Class.class) {
                continue;
            }
            Object listener = Proxy.newProxyInstance(types[1].getClassLoader(), new Class<?>[] {types[1]}, this::called);
            method.setAccessible(true);
            method.invoke(topic, Object.class, listener);
            tell(null);
            return;
        }
        throw new NoSuchMethodException("addListener of " + topic.getClass());
    }

    private Object called(Object listener, Method method, Object[] args) {
        switch (method.getName()) {
            case "onMessage":
                hear(args[args.length - 1]);
                return null;
            case "equals":
                return listener == args[0];
            case "hashCode":
                return System.identityHashCode(listener);
            default:
                return "listener";
        }
    }

    private void hear(Object message) {
        tell(message);
        if (heard.incrementAndGet() == request.whole("messages")) {
            new Thread(this::end).start();
        }
    }

    /** Not on the thread that brings the messages. */
    private void end() {
        try {
            Method method = topic.getClass().getMethod("removeAllListeners");
            method.setAccessible(true);
            method.invoke(topic);
            answers.value(request, heard.get());
        } catch (ReflectiveOperationException error) {
            answers.error(request, error);
        }
    }

    private void tell(Object message) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("work", request.id());
        line.put("message", message);
        answers.print(line);
    }
}
