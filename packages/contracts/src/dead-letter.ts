/** A durable message that could not be stored as what it claims to be, as it is kept aside and shown to admins. */
export interface DeadLetter {
  /** The same for the same content and reason. */
  id: string;
  /** Of the bus, as `stats.request`. */
  subject: string;
  /** Under which it was told; anything. */
  item_id: string;
  reason: string;
  /** The beginning of what it holds, without credentials. */
  excerpt: string;
  /** Of the whole. */
  bytes: number;
  /** Milliseconds since the epoch. */
  first_at: number;
  last_at: number;
  /** How often the very same was set aside. */
  times: number;
}
