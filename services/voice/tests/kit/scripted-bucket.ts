/** A store with the part of S3 that recordings need, controlled by a test. */
export interface ScriptedBucket {
  url: string;
  /** The stored objects, by key. */
  objects: Map<string, Buffer>;
  /** While set, every request is answered with this status. */
  failWith: number | null;
  /** While set, requests wait. */
  gate: Promise<void> | null;
  stop(): Promise<void>;
}

/** @param name of the bucket */
export function startScriptedBucket(name: string): ScriptedBucket {
  const uploads = new Map<string, Map<number, Buffer>>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      await bucket.gate;
      const content = Buffer.from(await request.arrayBuffer());
      if (bucket.failWith !== null) return xml("<Error><Code>Scripted</Code></Error>", bucket.failWith);
      const { pathname, searchParams } = new URL(request.url);
      const key = decodeURIComponent(pathname.slice(`/${name}/`.length));
      return answer(request, key, searchParams, content);
    },
  });

  function answer(request: Request, key: string, query: URLSearchParams, content: Buffer): Response {
    const upload = query.get("uploadId");
    if (request.method === "GET" && query.has("list-type")) return list(query);
    if (request.method === "POST" && query.has("uploads")) return begin();
    if (request.method === "POST" && upload !== null) return complete(key, upload);
    if (request.method === "PUT" && upload !== null) {
      uploads.get(upload)?.set(Number(query.get("partNumber")), content);
      return stored();
    }
    if (request.method === "PUT") {
      bucket.objects.set(key, content);
      return stored();
    }
    if (request.method === "DELETE") {
      bucket.objects.delete(key);
      return new Response(null, { status: 204 });
    }
    return read(request, bucket.objects.get(key));
  }

  function list(query: URLSearchParams): Response {
    const [prefix, after, most] = [query.get("prefix") ?? "", query.get("start-after") ?? "", query.get("max-keys")];
    const keys = [...bucket.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
    const page = keys.slice(0, Number(most ?? 1_000));
    const contents = page.map(
      (key) => `<Contents><Key>${key}</Key><Size>${bucket.objects.get(key)?.length}</Size></Contents>`,
    );
    const isTruncated = page.length < keys.length;
    return xml(
      `<ListBucketResult><Name>${name}</Name><IsTruncated>${isTruncated}</IsTruncated>${contents.join("")}</ListBucketResult>`,
    );
  }

  function begin(): Response {
    const upload = `upload-${uploads.size}`;
    uploads.set(upload, new Map());
    return xml(
      `<InitiateMultipartUploadResult><Bucket>${name}</Bucket><UploadId>${upload}</UploadId></InitiateMultipartUploadResult>`,
    );
  }

  function complete(key: string, upload: string): Response {
    const parts = [...(uploads.get(upload) ?? [])].toSorted(([one], [other]) => one - other);
    bucket.objects.set(key, Buffer.concat(parts.map(([, part]) => part)));
    return xml(`<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>`);
  }

  const bucket: ScriptedBucket = {
    url: server.url.origin,
    objects: new Map(),
    failWith: null,
    gate: null,
    stop: () => server.stop(true),
  };
  return bucket;
}

const stored = () => new Response(null, { headers: { etag: '"x"' } });
const xml = (text: string, status = 200) =>
  new Response(`<?xml version="1.0"?>${text}`, { status, headers: { "content-type": "application/xml" } });

function read(request: Request, object: Buffer | undefined): Response {
  if (!object)
    return request.method === "HEAD"
      ? new Response(null, { status: 404 })
      : xml("<Error><Code>NoSuchKey</Code></Error>", 404);
  if (request.method === "HEAD")
    return new Response(null, { headers: { "content-length": String(object.length), etag: '"x"' } });
  const [, first, last] = /bytes=(\d+)-(\d*)/.exec(request.headers.get("range") ?? "") ?? [];
  if (first === undefined) return new Response(new Uint8Array(object));
  return new Response(new Uint8Array(object.subarray(Number(first), last ? Number(last) + 1 : undefined)), {
    status: 206,
  });
}
