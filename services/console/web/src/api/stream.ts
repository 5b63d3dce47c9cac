/** Calls of the console's API whose answer is a stream of events. */
import { forgetToken, readToken } from '../session/token.ts';
import { readProblem, unreachable } from './problem.ts';
import { noteAnswer, noteNoAnswer } from './reachability.ts';

/** The answer once its head is there and good; throws `ApiProblem` else. Aborting `signal` ends it. */
export async function streamCall(where: string, { body, signal }: { body?: unknown; signal: AbortSignal }): Promise<Response> {
  const token = readToken();
  let response: Response;
  try {
    response = await fetch(`/console/api/${where}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${token ?? ''}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
      redirect: 'error',
    });
  } catch (error) {
    if (signal.aborted) throw error;
    void noteNoAnswer();
    throw unreachable();
  }
  if (response.ok) {
    noteAnswer();
    return response;
  }
  const problem = await readProblem(response);
  if (problem.isOfProxy) void noteNoAnswer();
  if (response.status === 401) forgetToken(token);
  throw problem;
}
