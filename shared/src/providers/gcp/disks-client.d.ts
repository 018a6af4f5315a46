import type {
  CallOptions,
  ClientOptions,
  DiskResource,
  LabelsRequest,
  ListAnswer,
  ListParameters,
  Operation,
} from './sdk-types.ts'

export declare class DisksClient {
  constructor(options: ClientOptions)
  get(
    request: { readonly project: string; readonly zone: string; readonly disk: string },
    options: CallOptions,
  ): Promise<[DiskResource, ...unknown[]]>
  list(
    request: { readonly project: string; readonly zone: string } & ListParameters,
    options: CallOptions,
  ): Promise<ListAnswer>
  setLabels(
    request: {
      readonly project: string
      readonly zone: string
      readonly resource: string
      readonly zoneSetLabelsRequestResource: LabelsRequest
    },
    options: CallOptions,
  ): Promise<[Operation, ...unknown[]]>
  close(): Promise<void>
}
