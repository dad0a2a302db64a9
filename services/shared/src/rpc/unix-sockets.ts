import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { experimental } from "@grpc/grpc-js";

/** Removes the socket that a killed process left behind, which would keep others from listening there. */
export async function removeStaleSocket(path: string): Promise<void> {
  if ((await connectionError(path)) === "ECONNREFUSED") await rm(path, { force: true });
}

/**
 * Makes grpc-js read unix:path,path as round robin over several sockets, as gRPC's C core does. By itself, grpc-js
 * takes it for a single path.
 */
export function resolveSocketLists(): void {
  experimental.registerResolver("unix", socketResolver as unknown as ResolverConstructor);
}

type ResolverConstructor = Parameters<typeof experimental.registerResolver>[1];
type Target = ConstructorParameters<ResolverConstructor>[0];
type Listener = ConstructorParameters<ResolverConstructor>[1];

/** grpc-js calls it with `new`, which an ordinary function that returns an object allows. */
function socketResolver(target: Target, listener: Listener): experimental.Resolver {
  const paths = (target.authority === "" ? `/${target.path}` : target.path).split(",");
  const endpoints = experimental.statusOrFromValue(paths.map((path) => ({ addresses: [{ path }] })));
  let isResolved = false;
  return {
    updateResolution: () => {
      if (isResolved) return;
      isResolved = true;
      process.nextTick(listener, endpoints, {}, null, "");
    },
    destroy: () => {
      isResolved = false;
    },
  };
}
socketResolver.getDefaultAuthority = () => "localhost";

/** The system's code for a failed connection; null when someone answers. */
function connectionError(path: string): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const socket = connect(path, () => resolve(null));
  socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  return promise.finally(() => socket.destroy());
}
