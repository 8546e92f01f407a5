import { ApiSecurity } from '@nestjs/swagger';

/** Names of the security schemes in the contract. */
export const CLIENT_CREDENTIALS_SCHEME = 'clientCredentials';

/** Documents that a route needs a bearer token. */
export const ApiBearer = (): ClassDecorator & MethodDecorator => ApiSecurity(CLIENT_CREDENTIALS_SCHEME);
