/** Tokens of sound: vendors count them inside the prompt and the reply, and price them apart. */
import type { Usage } from '@model-gateway/contracts';

/** `input`: fresh tokens of the prompt. `sound`: how many of these are sound, as the vendor says. */
export function splitSoundIn(input: number, sound: number): Pick<Usage, 'input' | 'audioInput'> {
  const audioInput = Math.min(input, sound);
  return { input: input - audioInput, ...(audioInput > 0 && { audioInput }) };
}

/** `output`: tokens of the reply without its reasoning. */
export function splitSoundOut(output: number, sound: number): Pick<Usage, 'output' | 'audioOutput'> {
  const audioOutput = Math.min(output, sound);
  return { output: output - audioOutput, ...(audioOutput > 0 && { audioOutput }) };
}
