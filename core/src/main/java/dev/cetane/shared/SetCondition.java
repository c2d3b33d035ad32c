package dev.cetane.shared;

import org.jspecify.annotations.Nullable;

/** When a SET is to be done, by its code on the wire. */
enum SetCondition {
    ALWAYS,
    IF_ABSENT,
    /** The row's version is still this one. */
    IF_VERSION;

    private static final SetCondition[] BY_CODE = values();

    static @Nullable SetCondition of(int code) {
        return code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
