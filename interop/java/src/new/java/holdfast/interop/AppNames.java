package holdfast.interop;

import org.redisson.config.NameMapper;

/** Named by a configuration file: puts `app:` before all names. */
public final class AppNames implements NameMapper {
    private static final String PREFIX = "app:";

    @Override
    public String map(String name) {
        return PREFIX + name;
    }

    @Override
    public String unmap(String name) {
        return name.substring(PREFIX.length());
    }
}
