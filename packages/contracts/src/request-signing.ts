/** A credential that signs each request as a whole, rather than standing in a header of it. Secret: never logged, never on the bus. */
export interface RequestSigning {
  scheme: 'sigv4';
  /** The service's name in the signature's scope. */
  service: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}
