import { GatewayError } from '@model-gateway/contracts/errors';

/** The 400 of a request whose field `param` has the wrong shape. `message` is shown to the caller and never quotes content. */
export const invalid = (param: string, message: string): GatewayError => new GatewayError('invalid_request', { status: 400, param, message });

/** A message that names the field it is about: clients show the message alone. Example: `namingField('must be a string', 'input')` gives `input: must be a string`. */
export const namingField = (message: string, param: string | undefined): string =>
  param === undefined || message.includes(param) ? message : `${param}: ${message}`;
