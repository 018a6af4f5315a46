import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeyAndCertificate } from '../certificates.ts'

/** A folder with `tls.crt` and `tls.key`, written as people do it, or as kubelet mounts a Secret. */
export class SecretFolder {
  readonly path: string
  readonly #root: string
  #generation = 0

  private constructor(root: string) {
    this.#root = root
    this.path = join(root, 'tls')
  }

  /** A path in a new temporary folder; nothing is there yet. */
  static async create(): Promise<SecretFolder> {
    return new SecretFolder(await mkdtemp(join(tmpdir(), 'secret-')))
  }

  async makeFolder(): Promise<void> {
    await mkdir(this.path, { recursive: true })
  }

  /** Plain files. Only the named ones are written. */
  async write(files: { readonly crt?: string; readonly key?: string }): Promise<void> {
    await this.makeFolder()
    if (files.crt !== undefined) await writeFile(join(this.path, 'tls.crt'), files.crt)
    if (files.key !== undefined) await writeFile(join(this.path, 'tls.key'), files.key)
  }

  async writePair({ certificate, key }: KeyAndCertificate): Promise<void> {
    await this.write({ crt: certificate, key })
  }

  async remove(file: 'tls.crt' | 'tls.key'): Promise<void> {
    await rm(join(this.path, file))
  }

  /** A new generation, put in place by renaming the link `..data` over the old one, which is then deleted. */
  async swap({ certificate, key }: KeyAndCertificate): Promise<void> {
    await this.makeFolder()
    const name = `..generation-${++this.#generation}`
    await mkdir(join(this.path, name))
    await writeFile(join(this.path, name, 'tls.crt'), certificate)
    await writeFile(join(this.path, name, 'tls.key'), key)
    await symlink(name, join(this.path, '..data_tmp'))
    await rename(join(this.path, '..data_tmp'), join(this.path, '..data'))
    if (this.#generation === 1) {
      await symlink('..data/tls.crt', join(this.path, 'tls.crt'))
      await symlink('..data/tls.key', join(this.path, 'tls.key'))
    } else {
      await rm(join(this.path, `..generation-${this.#generation - 1}`), { recursive: true })
    }
  }

  async delete(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true })
  }
}
