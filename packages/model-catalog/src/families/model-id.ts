/** Ids of models: what is cut off before a model is looked up. */

/** Ids are a caller's or an admin's text: no longer than any real one is looked at. */
const maxIdLength = 256;

const fireworksPath = /(?:^|\/)accounts\/fireworks\/(?:models|routers)\/[^/]*$/;

/** `us.anthropic.claude-opus-4-5-20251101-v1:0` → `claude-opus-4-5-20251101-v1`; `vendor/model`, `models/x` → the last segment; `claude-opus-4.5` → `claude-opus-4-5`; `accounts/fireworks/models/glm-5p2` → `glm-5.2`. */
export function bareId(id: string): string {
  const path = id.slice(-maxIdLength).toLowerCase();
  const last = path.split('/').at(-1) ?? '';
  const untagged = last.split(/[:@]/, 1)[0] ?? '';
  const bare = untagged.replace(
    /^(?:(?:us|eu|apac|ap|jp|au|ca|us-gov|global)\.)?(?:anthropic|amazon|meta|mistral|deepseek|qwen|openai|google|moonshot(?:ai)?|zai|minimax|cohere|xai)\./,
    '',
  );
  // Fireworks writes the dot of a version as a letter, and Llama's versions with another.
  if (fireworksPath.test(path)) return bare.replace(/(?<=\d)p(?=\d)/g, '.').replace(/^((?:code-)?llama|qwen)-v(?=\d)/, '$1-');
  // Aggregators and the assistant service write this vendor's versions with a dot.
  return bare.startsWith('claude') ? bare.replace(/(\d)\.(?=\d)/g, '$1-') : bare;
}

/** A date, a build or a stage of release at the end of an id: the model is the same without it. A version (`-5`, `-70b`) is none. */
const release = /-(?:20\d\d-\d\d-\d\d|20\d{6}|\d\d-20\d\d|\d{3,4}|0|v\d+|latest|preview|beta|exp|experimental)$/;

/** The id, then what is left of it as its release is cut off piece by piece: `claude-opus-4-5-20251101-v1`, `claude-opus-4-5-20251101`, `claude-opus-4-5`. */
export function* withoutRelease(bare: string): Generator<string> {
  let id = bare;
  for (;;) {
    yield id;
    const shorter = id.replace(release, '');
    if (shorter === id || shorter === '') return;
    id = shorter;
  }
}
