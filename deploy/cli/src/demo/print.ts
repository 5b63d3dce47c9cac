/** The requests that `--demo` prints, ready to be pasted. */

export function demoText(base: string, { key, model, password }: { key: string; model: string; password: string | null }): string {
  return `
The demo runs. Its upstream is built in, its models have prices, and the agents of three teams with budgets work for ten minutes. Your access key, and a model, \`${model}\`:

  ${key}

Look around in the console: ${base}/console, as admin with the password ${password}
  Overview (one upstream fails, one budget ends, one model has no price), Costs and budgets, Health, Requests, and the sessions in Statistics

Try it (each streams):

  # chat completions (OpenAI-compatible)
  curl -N ${base}/v1/chat/completions -H 'authorization: Bearer ${key}' -H 'content-type: application/json' \\
    -d '{"model":"${model}","stream":true,"messages":[{"role":"user","content":"Hello"}]}'

  # messages (Anthropic-compatible)
  curl -N ${base}/v1/messages -H 'x-api-key: ${key}' -H 'anthropic-version: 2023-06-01' -H 'content-type: application/json' \\
    -d '{"model":"${model}","max_tokens":256,"stream":true,"messages":[{"role":"user","content":"Hello"}]}'

  # generate content (Gemini-compatible)
  curl -N '${base}/v1beta/models/${model}:streamGenerateContent?alt=sse' -H 'x-goog-api-key: ${key}' -H 'content-type: application/json' \\
    -d '{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}'

  # responses (OpenAI-compatible)
  curl -N ${base}/v1/responses -H 'authorization: Bearer ${key}' -H 'content-type: application/json' \\
    -d '{"model":"${model}","stream":true,"input":"Hello"}'

Stop with Ctrl-C. The demo keeps nothing: its database lives in a temporary folder.
`;
}
