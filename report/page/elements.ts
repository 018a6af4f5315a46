export interface ElementOptions {
  readonly class?: string
  readonly text?: string
  readonly attributes?: Readonly<Record<string, string>>
}

/** Only ever text, never markup: what is shown was written by strangers. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  options: ElementOptions = {},
  children: readonly Node[] = [],
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  if (options.class !== undefined) made.className = options.class
  if (options.text !== undefined) made.textContent = options.text
  for (const [name, value] of Object.entries(options.attributes ?? {})) made.setAttribute(name, value)
  made.append(...children)
  return made
}

/** An element that the page is written with. */
export function need<Type extends Element>(selector: string, type: abstract new () => Type): Type {
  const found = document.querySelector(selector)
  if (found instanceof type) return found
  throw new Error(`the page has no ${selector}`)
}
