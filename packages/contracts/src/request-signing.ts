/** A credential that signs each request as a whole, instead of being sent in a header. Secret: never logged, never on the bus. */
export interface RequestSigning {
  scheme: 'sigv4';
  /** The service's name in the signature's scope. */
  service: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}
