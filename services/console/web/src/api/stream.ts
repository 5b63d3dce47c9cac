/** Calls of the console's API whose answer is a stream of events. */
import { forgetToken, readToken } from '../session/token.ts';
import { ApiProblem, readProblem } from './problem.ts';

/** The answer once its head is there and good; throws `ApiProblem` else. Aborting `signal` ends it. */
export async function streamCall(where: string, { body, signal }: { body?: unknown; signal: AbortSignal }): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/console/api/${where}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${readToken() ?? ''}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
      redirect: 'error',
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiProblem(0, 'unreachable', 'The gateway did not answer. Is it running, and is this machine on line?');
  }
  if (response.ok) return response;
  const problem = await readProblem(response);
  if (response.status === 401) forgetToken();
  throw problem;
}
