/** Removes a folder at the end of this process, whose parent may not wait for that: by a process of its own. */
import { spawn } from 'node:child_process';

export const removeLater = (folder: string): void => spawn('rm', ['-rf', folder], { detached: true, stdio: 'ignore' }).unref();
