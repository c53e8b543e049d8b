package org.redisson.misc;

import java.net.InetSocketAddress;
import java.net.URI;

/**
 * Stands in for the class of that name in 3.8.1, which changes private constants of java.net.URI as it is loaded: no JDK
 * since 12 allows that, and nothing of that version would start. What is lost is host names with underscores.
 */
public final class URIBuilder {
    private URIBuilder() {
    }

    public static URI create(String text) {
        return URI.create(text);
    }

    public static void patchUriObject() {
    }

    public static boolean compare(InetSocketAddress address, URI uri) {
        return new InetSocketAddress(uri.getHost(), uri.getPort()).equals(address);
    }
}
