/** An access key, as the API returns it. */
export interface AccessKey {
  name: string;
  /** First and last four characters; the whole value in the answer to a creation or a rotation. */
  key: string;
  group: string;
  enabled: boolean;
  expires_at: string | null;
  last_used_at: string | null;
  description: string;
  tags: string[];
  rate_limit?: unknown;
  budget?: unknown;
  anonymous: boolean;
}
