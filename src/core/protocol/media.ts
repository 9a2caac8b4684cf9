/** What a response body is, as far as framing goes. */

export type Media = 'json' | 'sse' | 'other' | 'absent' | 'unknown';

/**
 * `reportsJson`: the tap judged the body as JSON (`json` is on the record), which tells the kind where no content type does.
 */
export function mediaOf(contentType: string | null | undefined, reportsJson: boolean): Media {
  if (contentType === null) return 'absent';
  if (contentType === undefined) return reportsJson ? 'json' : 'unknown';
  switch (contentType) {
    case 'application/json':
      return 'json';
    case 'text/event-stream':
      return 'sse';
    case '':
      return 'absent';
  }
  const essence = (contentType.split(';', 1)[0] as string).trim().toLowerCase();
  if (essence === 'application/json' || essence.endsWith('+json')) return 'json';
  return essence === 'text/event-stream' ? 'sse' : 'other';
}
