/**
 * The SDK refuses to send a token over plain HTTP, with reason. Servers on this machine, as tests and demos use them,
 * may be plain all the same: the SDK is told https, and the last step before the socket puts it right.
 */

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

export interface SdkEndpoint {
  /** What the SDK is told: always https, without a slash at its end. */
  readonly url: string
  /** `host:port` to be reached by plain HTTP; undefined for a real endpoint. */
  readonly plainHost: string | undefined
}

/** Throws for what is no URL, and for plain HTTP to another machine. `name` is the setting, for the message. */
export function sdkEndpoint(name: string, text: string): SdkEndpoint {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Error(`${name}: ${JSON.stringify(text)} is no https URL`)
  }
  const trimmed = url.href.replace(/\/+$/, '')
  if (url.protocol === 'https:') return { url: trimmed, plainHost: undefined }
  if (!loopback.has(url.hostname)) {
    throw new Error(`${name}: ${text} would send tokens in the clear; plain http is taken on this machine only`)
  }
  const secure = new URL(url)
  secure.protocol = 'https:'
  // A URL leaves out its scheme's own port.
  if (url.port === '') secure.port = '80'
  return { url: secure.href.replace(/\/+$/, ''), plainHost: secure.host }
}
