// V8 would make objects of a kind that survived a few collections in the old generation from then on. What belongs to a
// request is dead when it is answered; but of a dead old object nobody knows that until the next full collection, and
// every young one that it refers to, rows and all, is copied twice meanwhile.
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-allocation-site-pretenuring');
