/** Speech from words, and words from speech. */
import type { FormFile } from './form.ts';

export type SpeechFormat = 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm';

/** A caller's request for speech. */
export interface SpeechRequest {
  text: string;
  /** By the caller's name of it; upstreams know others. */
  voice: string;
  /** How it is to be spoken. */
  instructions?: string;
  /** undefined: the caller did not say, and SDKs expect MP3. */
  format?: SpeechFormat;
  /** What else the caller said. */
  options: Readonly<Record<string, unknown>>;
}

/** Speech by its bytes (standard base64) or by its address. */
export type Speech = { data: string; mimeType: string } | { url: string };

/** Speech as it comes: its next bytes (standard base64). */
export interface SpeechPiece {
  data: string;
  mimeType: string;
}

/** A caller's request for the words of a recording. */
export interface TranscriptionRequest {
  /** `translate`: into English. */
  task: 'transcribe' | 'translate';
  file: FormFile;
  /** Of the file, where it was uploaded for an upstream that reads by address. */
  address?: string;
  /** ISO 639-1. */
  language?: string;
  prompt?: string;
  temperature?: number;
  form: 'json' | 'text' | 'srt' | 'vtt' | 'verbose_json' | 'diarized_json';
}

export interface Transcription {
  text: string;
  /** With times, in seconds, in their order. Absent: the upstream gives none. */
  segments?: readonly { start: number; end: number; text: string }[];
  /** Of the recording, in seconds. */
  duration?: number;
}

/** A transcription as it comes: its next words. */
export interface TranscriptionPiece {
  text: string;
}
