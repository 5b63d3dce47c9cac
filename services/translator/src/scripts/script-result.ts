/** What a script made of a body. */
export interface ScriptResult {
  body: Buffer;
  /** Whether the script changed anything. */
  changed: boolean;
  /** Where the script wants the request to go. */
  useModel: string | null;
}
