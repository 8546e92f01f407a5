export { CHARGE_LUA, NOW_LUA } from './charge-script';
export { type BucketSize, bucketSizeOf, limitOf, rateClassOf } from './bucket';
export { clearRateLimitHeaders, setRateLimitHeaders } from './rate-limit-headers';
export { type ChargeReply, TokenBuckets, bucketField, chargeOf, clientKey } from './token-buckets';
