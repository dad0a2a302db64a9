import type { AuthProvider, CallToolResult, SdkHttpError } from "@modelcontextprotocol/client";
import type { ListedMcpTool } from "@parley/proto/parley/agent/v1/tool.ts";
import type { McpFetch } from "./counted-fetch.ts";

export interface McpServer {
  url: string;
  headers: Record<string, string>;
  /** Of an OAuth client; null for a server whose headers authorize. */
  auth: AuthProvider | null;
  /** Guarded against private addresses, because the owner chooses the address. */
  fetch: McpFetch;
}

/** A session with an MCP server. Its methods throw McpFailure. */
export interface McpConnection {
  /** What the server offers; remembered as long as the server says, a minute if it does not say. */
  listTools(signal: AbortSignal): Promise<ListedMcpTool[]>;
  call(name: string, args: Record<string, unknown>, signal: AbortSignal, timeoutMs: number): Promise<CallToolResult>;
  /** Ends the session once the calls in it are over. */
  close(): void;
}

/** Why a server could not be used, as the model or the owner is told. */
export class McpFailure extends Error {
  /** Whether the server no longer knows the session, so that the request had no effect. */
  readonly isForgotten: boolean;

  constructor(message: string, isForgotten = false) {
    super(message);
    this.isForgotten = isForgotten;
  }
}

const CONNECT_MS = 10_000;
const LIST_MS = 60_000;
/** The shortest pause before a stream is taken up again, whatever the server asks for. */
const RESUME_MS = 1_000;
/** No file needs more pages. */
const PAGES_MAX = 20;

/** Loaded with the first connection: it takes 28 MB of memory, which a process without MCP tools needs for conversations. */
type Sdk = typeof import("@modelcontextprotocol/client");

/** Connects to a server of either protocol revision, 2026-07-28 or 2025-11-25, within ten seconds. @throws McpFailure */
export async function connectMcp({ url, headers, auth, fetch }: McpServer): Promise<McpConnection> {
  const sdk = await import("@modelcontextprotocol/client");
  const client = new sdk.Client(
    { name: "parley", version: "1" },
    {
      versionNegotiation: { mode: "auto" },
      // A question back to a person has nobody to answer it.
      inputRequired: { autoFulfill: false },
      defaultCacheTtlMs: LIST_MS,
      listMaxPages: PAGES_MAX,
      // Models read results as text. A stranger's schema for them could take minutes to check.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
    },
  );
  const running = new Set<Promise<unknown>>();
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers, redirect: "manual" },
    // A stream that stands while nobody calls could only tell what is read again anyway.
    fetch: async (input, init) => (isStanding(init) ? new Response(null, { status: 405 }) : fetch(input, init)),
    reconnectionScheduler: (reconnect, delayMs) => {
      if (running.size === 0) return;
      const timer = setTimeout(reconnect, Math.max(RESUME_MS, delayMs));
      return () => clearTimeout(timer);
    },
    ...(auth && { authProvider: auth }),
  });
  const bounded = { signal: AbortSignal.timeout(CONNECT_MS), timeout: CONNECT_MS };
  await client.connect(transport, bounded).catch((error) => {
    void client.close().catch(() => {});
    throw failureOf(sdk, error);
  });
  const within = <T>(work: Promise<T>): Promise<T> => {
    running.add(work);
    work.catch(() => {}).finally(() => running.delete(work));
    return work;
  };
  const tell = (error: unknown): never => {
    throw failureOf(sdk, error);
  };
  return {
    async listTools(signal) {
      const { tools } = await within(client.listTools({}, { signal, timeout: CONNECT_MS }).catch(tell));
      return tools.map(({ name, description = "", inputSchema }) => ({ name, description, inputSchema }));
    },
    call(name, args, signal, timeoutMs) {
      const limits = { signal, timeout: timeoutMs, maxTotalTimeout: timeoutMs };
      return within(client.callTool({ name, arguments: args }, limits).catch(tell));
    },
    close() {
      // Servers of 2025-11-25 keep sessions.
      void Promise.allSettled(running)
        .then(() => transport.terminateSession())
        .catch(() => {})
        .then(() => client.close())
        .catch(() => {});
    },
  };
}

function isStanding({ method, headers }: RequestInit = {}): boolean {
  return method === "GET" && !new Headers(headers).has("last-event-id");
}

function failureOf({ SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError }: Sdk, error: unknown): McpFailure {
  if (error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === 401)) {
    return new McpFailure(
      "The server wants authorization. Give it a token or client credentials; a sign-in in a browser (the authorization code flow) is not supported",
    );
  }
  if (error instanceof SdkHttpError && isForgottenSession(error)) {
    return new McpFailure("The server forgot the session", true);
  }
  const code = error instanceof SdkError ? error.code : null;
  if (code === SdkErrorCode.RequestTimeout) return new McpFailure("The server did not answer in time");
  if (code === SdkErrorCode.UnsupportedResultType) {
    return new McpFailure("The server asked a question back instead of giving a result, which is not possible here");
  }
  return new McpFailure(error instanceof Error ? error.message : String(error));
}

/** The protocol asks for 404; the SDK's own examples answer 400 and name the session. Neither has had an effect. */
function isForgottenSession({ status, message }: SdkHttpError): boolean {
  return status === 404 || (status === 400 && /session/i.test(message));
}
