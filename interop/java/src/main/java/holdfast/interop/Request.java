package holdfast.interop;

import java.util.List;
import java.util.Map;

/** One line of the input. */
final class Request {
    private final Map<String, Object> fields;
    final double start = Answers.now();

    Request(Map<String, Object> fields) {
        this.fields = fields;
    }

    boolean has(String name) {
        return fields.get(name) != null;
    }

    Object get(String name) {
        return fields.get(name);
    }

    String text(String name) {
        Object value = fields.get(name);
        if (value == null) {
            throw new IllegalArgumentException("the request has no " + name);
        }
        return value.toString();
    }

    String text(String name, String otherwise) {
        return has(name) ? text(name) : otherwise;
    }

    boolean is(String name) {
        return Boolean.TRUE.equals(fields.get(name));
    }

    long whole(String name) {
        return ((Number) fields.get(name)).longValue();
    }

    double number(String name, double otherwise) {
        return has(name) ? ((Number) fields.get(name)).doubleValue() : otherwise;
    }

    @SuppressWarnings("unchecked")
    List<Object> list(String name) {
        return has(name) ? (List<Object>) fields.get(name) : List.of();
    }

    @SuppressWarnings("unchecked")
    Map<String, Object> map(String name) {
        return has(name) ? (Map<String, Object>) fields.get(name) : Map.of();
    }

    long id() {
        return whole("id");
    }
}
