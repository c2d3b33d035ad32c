package dev.cetane.ops;

/** What one watcher is sent of the samples. On the ops event loop. */
interface Feed {

    /** Media type of all of it. */
    String type();

    /** The next part. */
    String next(Sample sample);
}
