/** What an editor offers while JavaScript is typed: names of a sandbox, and members of its objects. */
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';

export interface CodeCompletion {
  label: string;
  type: 'function' | 'property' | 'method';
  /** Its parameters or type. */
  detail: string;
  /** A sentence on what it is. */
  info: string;
  /** Name of the object whose member it is; absent: it stands alone. */
  memberOf?: string;
}

export function completionSource(completions: readonly CodeCompletion[]): (context: CompletionContext) => CompletionResult | null {
  const options = (owner?: string) => completions.filter(({ memberOf }) => memberOf === owner).map(({ memberOf, ...completion }) => completion);
  const alone = options();
  const owners = new Map(completions.flatMap(({ memberOf }) => (memberOf ? [[memberOf, options(memberOf)] as const] : [])));
  return (context) => {
    const member = context.matchBefore(/\b\w+\.\w*/);
    if (member) {
      const dot = member.text.indexOf('.');
      const members = owners.get(member.text.slice(0, dot));
      return members ? { from: member.from + dot + 1, options: members, validFor: /^\w*$/ } : null;
    }
    const word = context.matchBefore(/\w+/);
    if (!word && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options: alone, validFor: /^\w*$/ };
  };
}
