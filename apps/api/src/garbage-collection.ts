import { setFlagsFromString } from 'node:v8';

// After objects of a kind have survived a few collections, V8 would allocate that kind in the old generation. Objects
// of a request are dead once it has its response. In the old generation they stay until the next full collection, and
// the young objects they refer to are copied twice.
setFlagsFromString('--no-allocation-site-pretenuring');

// By default the heap may grow to four times the living objects before the next full collection. Pages of several
// megabytes are in the old generation at once, and would fill that room with garbage.
setFlagsFromString('--heap-growing-percent=60');
