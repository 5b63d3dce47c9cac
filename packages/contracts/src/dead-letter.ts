/** A durable message that could not be stored as what it claims to be, as it is kept aside and shown to admins. */
export interface DeadLetter {
  /** Hash of content and reason: a repeated message has the same one. */
  id: string;
  /** The subject on the bus, for example `stats.request`. */
  subject: string;
  /** The id under which it was published; may be any text. */
  item_id: string;
  reason: string;
  /** The beginning of the content, with credentials masked. */
  excerpt: string;
  /** Size of the whole content in bytes. */
  bytes: number;
  /** Milliseconds since the epoch. */
  first_at: number;
  last_at: number;
  /** How often this same message was set aside. */
  times: number;
}
