import type {
  CallOptions,
  ClientOptions,
  DiskResource,
  LabelsRequest,
  ListAnswer,
  ListParameters,
  Operation,
} from './sdk-types.ts'

export declare class RegionDisksClient {
  constructor(options: ClientOptions)
  get(
    request: { readonly project: string; readonly region: string; readonly disk: string },
    options: CallOptions,
  ): Promise<[DiskResource, ...unknown[]]>
  list(
    request: { readonly project: string; readonly region: string } & ListParameters,
    options: CallOptions,
  ): Promise<ListAnswer>
  setLabels(
    request: {
      readonly project: string
      readonly region: string
      readonly resource: string
      readonly regionSetLabelsRequestResource: LabelsRequest
    },
    options: CallOptions,
  ): Promise<[Operation, ...unknown[]]>
  close(): Promise<void>
}
