// After objects of a kind have survived a few collections, V8 would allocate that kind in the old generation. Objects
// of a request are dead once it has its response. In the old generation they stay until the next full collection, and
// the young objects they refer to are copied twice.
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-allocation-site-pretenuring');
