/** Addresses inside the network, in every way that they can be written: none of them may be fetched for a model. */

const hosts = [
  ...['127.0.0.1', '127.1', '0x7f000001', '017700000001', '2130706433', '１２７.0.0.1', '0.0.0.0', '0', '[::1]', '[::]'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '127。0。0。1', '%31%32%37.0.0.1'],
  ...['localhost', 'LocalHost.', 'a.localhost'],
  ...['10.0.0.1', '172.31.0.1', '192.168.0.1', '100.64.0.1', '[fc00::1]', '[fe80::1]', '224.0.0.1', '255.255.255.255'],
  ...['169.254.169.254', '0xa9fea9fe', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', 'metadata.google.internal', '100.100.100.200', '168.63.129.16'],
];

/** Pages at these addresses, and at further hosts, on a port where something does listen. */
export const addressesInside = (port: number, further: readonly string[] = []): string[] =>
  [...hosts, ...further].map((host) => `http://${host}:${port}/latest/meta-data/`);

/** What is no web page, or has credentials in its address. */
export const addressesOfNoPage = (port: number): string[] => [
  ...['file:///etc/passwd', 'gopher://127.0.0.1/', 'ftp://public.example/', `http://user:secret@127.0.0.1:${port}/`, 'http://', 'data:text/plain,hi'],
];

/** What callers of either protocol that has a fetch are told of an address which was refused. */
export const refusalOfFetch = { beta: /^(?:url_not_accessible|invalid_tool_input|url_not_allowed)$/, gamma: /^URL_RETRIEVAL_STATUS_ERROR$/ };
