/** The two verbs of this host that take a vendor's own body. */
import { requestWith } from '../../cloudhost_converse/index.ts';

export const request = requestWith({ whole: 'invoke', stream: 'invoke-with-response-stream' });
