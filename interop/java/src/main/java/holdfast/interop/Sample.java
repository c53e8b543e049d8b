package holdfast.interop;

import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.redisson.api.RBucket;
import org.redisson.api.RedissonClient;

/** A field of each type that values are made of, each kept under a key of its own, so that each is judged by itself. */
final class Sample {
    public enum Color { RED, BLUE }

    /** A value within a value. */
    public static class Inner {
        public long number;
        public String text;

        public Inner() {
        }

        Inner(long number, String text) {
            this.number = number;
            this.text = text;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Inner && ((Inner) other).number == number && Objects.equals(((Inner) other).text, text);
        }

        @Override
        public int hashCode() {
            return Objects.hash(number, text);
        }
    }

    /** What is kept. */
    public static class Fields {
        public String text;
        public char letter = 'c';
        public boolean yes;
        public Boolean boxedYes;
        public short small;
        public int whole;
        public Integer boxedWhole;
        public long wide;
        public long wider;
        public Long boxedWide;
        public Long boxedWider;
        public float narrow;
        public double fraction;
        public Double boxedFraction;
        public BigDecimal decimal;
        public BigDecimal longDecimal;
        public BigInteger big;
        public BigInteger bigger;
        public AtomicLong atomicLong;
        public AtomicInteger atomicInteger;
        public UUID id;
        public Date date;
        public Color color;
        public byte[] bytes;
        public int[] ints;
        public long[] longs;
        public double[] doubles;
        public String[] texts;
        public Long[] boxedLongs;
        public List<String> listOfTexts;
        public List<Long> listOfLongs;
        public List<Object> listOfAll;
        public Set<String> set;
        public SortedSet<String> sorted;
        public Deque<Integer> deque;
        public Map<String, Integer> mapOfInts;
        public Map<String, Long> mapOfLongs;
        public TreeMap<String, Object> tree;
        public Inner inner;
        public List<Inner> listOfInner;
        public Object anyUuid;
        public Object anyDecimal;
        public Object anyInts;
        public Object anyLong;
    }

    private static Fields sample() {
        Fields all = new Fields();
        all.text = "ä \"text\"";
        all.letter = 'x';
        all.yes = true;
        all.boxedYes = true;
        all.small = 7;
        all.whole = 7;
        all.boxedWhole = 7;
        all.wide = 7;
        all.wider = 9007199254740993L;
        all.boxedWide = 7L;
        all.boxedWider = 9007199254740993L;
        all.narrow = 1.1f;
        all.fraction = 0.1;
        all.boxedFraction = 0.1;
        all.decimal = new BigDecimal("1.10");
        all.longDecimal = new BigDecimal("123456789.12345678901234567890");
        all.big = BigInteger.TEN;
        all.bigger = new BigInteger("123456789012345678901234567890");
        all.atomicLong = new AtomicLong(7);
        all.atomicInteger = new AtomicInteger(7);
        all.id = new UUID(1, 2);
        all.date = new Date(1234567890123L);
        all.color = Color.BLUE;
        all.bytes = new byte[] {0, -1};
        all.ints = new int[] {1, 2};
        all.longs = new long[] {1, 9007199254740993L};
        all.doubles = new double[] {0.5, 2};
        all.texts = new String[] {"a", "b"};
        all.boxedLongs = new Long[] {1L, 2L};
        all.listOfTexts = new ArrayList<>(List.of("a", "b"));
        all.listOfLongs = new ArrayList<>(List.of(1L, 2L));
        all.listOfAll = new ArrayList<>(List.of("a", 1, 2L, 0.5, true, new Inner(1, "i")));
        all.set = new HashSet<>(List.of("a"));
        all.sorted = new TreeSet<>(List.of("a", "b"));
        all.deque = new ArrayDeque<>(List.of(1, 2));
        all.mapOfInts = new HashMap<>(Map.of("a", 1));
        all.mapOfLongs = new HashMap<>(Map.of("a", 1L));
        all.tree = new TreeMap<>(Map.of("a", 1L, "b", "text"));
        all.inner = new Inner(7, "i");
        all.listOfInner = new ArrayList<>(List.of(new Inner(7, "i")));
        all.anyUuid = all.id;
        all.anyDecimal = all.decimal;
        all.anyInts = all.ints;
        all.anyLong = 7L;
        return all;
    }

    /** Writes them; tells the names of the fields. */
    static List<String> write(RedissonClient client, String name) throws ReflectiveOperationException {
        List<String> names = new ArrayList<>();
        for (Field field : Fields.class.getFields()) {
            Fields one = new Fields();
            field.set(one, field.get(sample()));
            client.getBucket(name + ':' + field.getName()).set(one);
            names.add(field.getName());
        }
        return names;
    }

    /** What became of them: `same`, or what is wrong, by field. */
    static Map<String, String> read(RedissonClient client, String name) throws ReflectiveOperationException {
        Map<String, String> outcome = new LinkedHashMap<>();
        for (Field field : Fields.class.getFields()) {
            RBucket<Object> bucket = client.getBucket(name + ':' + field.getName());
            outcome.put(field.getName(), compare(field, bucket));
        }
        return outcome;
    }

    private static String compare(Field field, RBucket<Object> bucket) throws ReflectiveOperationException {
        try {
            Object expected = plain(field.get(sample()));
            Object read = plain(field.get(bucket.get()));
            return Objects.deepEquals(expected, read) ? "same" : "not the same: " + read;
        } catch (RuntimeException error) {
            Throwable cause = Answers.cause(error);
            return String.valueOf(cause.getMessage()).split("\n")[0];
        }
    }

    /** Some know only whether they are themselves. */
    private static Object plain(Object value) {
        if (value instanceof AtomicLong || value instanceof AtomicInteger) {
            return value.toString();
        }
        return value instanceof Deque ? new ArrayList<>((Collection<?>) value) : value;
    }

    private Sample() {
    }
}
