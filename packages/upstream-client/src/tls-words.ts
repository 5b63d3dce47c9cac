/** What the codes of Node and OpenSSL mean where TLS cannot be agreed upon, and what an admin may do about it. */

const untrusted =
  'its certificate is of no authority that is trusted here: put that of the authority into tls.ca of the upstream, or into the file of NODE_EXTRA_CA_CERTS';
const noCommonVersion =
  'no version of TLS is spoken by both: it has to speak 1.2 or newer, and tls.min_version of the upstream may ask for no more than it speaks';
const noTls = 'no TLS is spoken at this port: look at the scheme and the port of the address';
const clientRefused = 'it refuses the client certificate: look at tls.client_cert of the upstream';

const words: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_HAS_EXPIRED: 'its certificate, or that of its authority, has expired: it has to be renewed there',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: compare the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for another host: correct the address, or name the host of the certificate in tls.server_name of the upstream',
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  ERR_SSL_UNSUPPORTED_PROTOCOL: noCommonVersion,
  ERR_SSL_VERSION_TOO_LOW: noCommonVersion,
};

/** What the other side says before it closes the connection. The version in the code says nothing of the version that is spoken. */
const alert = /^ERR_SSL_(?:SSL\/TLS|SSLV3|TLSV1|TLSV13)_ALERT_/;
const alertWords: Readonly<Record<string, string>> = {
  PROTOCOL_VERSION: noCommonVersion,
  CERTIFICATE_REQUIRED: 'it asks for a client certificate: tls.client_cert and tls.client_key of the upstream',
  HANDSHAKE_FAILURE: 'it refuses the handshake: no cipher is known to both, or it asks for a client certificate (tls.client_cert of the upstream)',
  CERTIFICATE_EXPIRED: 'the client certificate has expired: renew tls.client_cert of the upstream',
  BAD_CERTIFICATE: clientRefused,
  UNSUPPORTED_CERTIFICATE: clientRefused,
  CERTIFICATE_REVOKED: clientRefused,
  CERTIFICATE_UNKNOWN: clientRefused,
  UNKNOWN_CA: clientRefused,
};

/** Without an end; undefined: the code says all that is known. */
export function tlsWords(code: string): string | undefined {
  const [known, name] = alert.test(code) ? [alertWords, code.replace(alert, '')] : [words, code];
  return Object.hasOwn(known, name) ? known[name] : undefined;
}
