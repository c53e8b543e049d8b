package holdfast.interop;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Writes one line at a time. */
final class Answers {
    private final Gson json = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();
    private final PrintStream out;

    Answers(PrintStream out) {
        this.out = out;
    }

    /** CLOCK_MONOTONIC in ms: the same for all processes of the machine. */
    static double now() {
        return System.nanoTime() / 1e6;
    }

    void value(Request request, Object value) {
        value(request, value, request.start);
    }

    void value(Request request, Object value, double start) {
        Map<String, Object> line = times(request, start);
        line.put("value", plain(value));
        print(line);
    }

    void error(Request request, Throwable thrown) {
        error(request, thrown, request.start);
    }

    void error(Request request, Throwable thrown, double start) {
        Throwable error = cause(thrown);
        Map<String, Object> line = times(request, start);
        line.put("error", error.getClass().getName());
        line.put("message", String.valueOf(error.getMessage()));
        print(line);
    }

    static Throwable cause(Throwable error) {
        boolean wrapped = error instanceof InvocationTargetException || error instanceof CompletionException
            || error instanceof ExecutionException || error instanceof ExceptionInInitializerError;
        return wrapped && error.getCause() != null ? cause(error.getCause()) : error;
    }

    private static Map<String, Object> times(Request request, double start) {
        double end = now();
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("id", request.id());
        line.put("start", start);
        line.put("end", end);
        return line;
    }

    private static Object plain(Object value) {
        boolean simple = value == null || value instanceof Number || value instanceof Boolean || value instanceof String
            || value instanceof Collection || value instanceof Map;
        return simple ? value : value.toString();
    }

    void print(Map<String, Object> line) {
        byte[] bytes = (json.toJson(line) + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (out) {
            out.write(bytes, 0, bytes.length);
            out.flush();
        }
    }
}
