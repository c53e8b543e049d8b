package holdfast.interop;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.ToNumberPolicy;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.redisson.api.RedissonClient;

/**
 * Redisson, driven over standard input: one JSON object a line, each with an `id` and an `op`; every answer is a line
 * with that `id`, `start` and `end` (ms of the machine's monotonic clock), and `value` or `error`. Answers come in any
 * order. The end of the input ends the process.
 *
 *   open       client, url, options            one Redisson instance; the value is its id
 *   open       client, file                    the same, by a configuration in YAML
 *   yaml       file                            that configuration in Redisson's own words, with all that it left out
 *   call       client, kind, name, method, args [, on]
 *   thread     on                              the id of the real thread of that name
 *   interrupt  on
 *   cancel     call                            cancels the future of an asynchronous call
 *   work       see Work                        prints lines with `work` instead of `id` as it goes
 *   hear       client, kind, name, messages    prints lines with `work` and `message`, a first one without when it listens
 *   sample     client, name, way               see Sample; `way` is write or read
 *   bench      see Bench
 *   close      client
 *
 * A call of a method that ends with `Async` is made at once, any number beside each other; its arguments may hold a
 * thread id. All others are made on the real thread named `on`, one after the other.
 */
public final class Driver {
    private interface Operation {
        void run(Request request) throws Throwable;
    }

    private final Answers answers = new Answers(System.out);
    private final Clients clients = new Clients();
    private final Threads threads = new Threads();
    private final Calls calls = new Calls(answers, threads);
    private final Map<String, Operation> operations = new HashMap<>();

    private Driver() {
        operations.put("open", request -> answers.value(request, clients.open(request)));
        operations.put("yaml", request -> answers.value(request, Clients.config(request.text("file")).toYAML()));
        operations.put("call", request -> calls.make(request, object(request)));
        operations.put("thread", request -> answers.value(request, threads.id(request.text("on"))));
        operations.put("interrupt", request -> answers.value(request, threads.interrupt(request.text("on"))));
        operations.put("cancel", request -> answers.value(request, calls.cancel(request.whole("call"))));
        operations.put("work", request -> new Work(request, object(request), reader(request), answers).start());
        operations.put("hear", request -> new Hearing(request, object(request), answers).start());
        operations.put("sample", this::sample);
        operations.put("bench", this::bench);
        operations.put("close", request -> aside(request, () -> answers.value(request, clients.close(request))));
    }

    private Object object(Request request) throws Throwable {
        return clients.object(request.text("client"), request.text("kind"), request.text("name"));
    }

    /** Where a part of the visits reads, the kind is the writing side of a read-write lock. */
    private Object reader(Request request) throws Throwable {
        return request.has("reads") ? clients.object(request.text("client"), "read", request.text("name")) : object(request);
    }

    private void sample(Request request) throws Throwable {
        RedissonClient client = clients.client(request.text("client"));
        String name = request.text("name");
        answers.value(request, request.text("way").equals("write") ? Sample.write(client, name) : Sample.read(client, name));
    }

    private void bench(Request request) throws Throwable {
        List<Object> locks = locks(request, request.text("kind"));
        List<Object> readers = request.has("reads") ? locks(request, "read") : locks;
        new Bench(request, locks, readers, answers).start();
    }

    private List<Object> locks(Request request, String kind) throws Throwable {
        List<Object> locks = new ArrayList<>();
        for (Object name : request.list("names")) {
            locks.add(clients.object(request.text("client"), kind, name.toString()));
        }
        return locks;
    }

    private void aside(Request request, Runnable task) {
        new Thread(() -> {
            try {
                task.run();
            } catch (Throwable error) {
                answers.error(request, error);
            }
        }).start();
    }

    private void handle(Request request) {
        try {
            Operation operation = operations.get(request.text("op"));
            if (operation == null) {
                throw new IllegalArgumentException("no such operation: " + request.text("op"));
            }
            operation.run(request);
        } catch (Throwable error) {
            answers.error(request, error);
        }
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] args) throws Exception {
        Driver driver = new Driver();
        Gson json = new GsonBuilder().setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE).create();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            driver.handle(new Request(json.fromJson(line, Map.class)));
        }
        Runtime.getRuntime().halt(0);
    }
}
