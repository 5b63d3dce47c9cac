/** An access key, as the API returns it. */
import type { ResourceState } from '@model-gateway/console/answers';

export interface AccessKey {
  name: string;
  /** Revision, in lists. */
  etag?: string;
  /** How it stands; absent right after a change. */
  state?: ResourceState;
  /** First and last four characters; the whole value in the answer to a creation or a rotation. */
  key: string;
  group: string;
  enabled: boolean;
  expires_at: string | null;
  /** An e-mail address or the name of a console user; empty: nobody. */
  owner?: string;
  /** Until then the value before the last rotation is let in as well. */
  previous_valid_until?: string | null;
  last_used_at: string | null;
  description: string;
  tags: string[];
  rate_limit?: unknown;
  budget?: unknown;
  anonymous: boolean;
}
