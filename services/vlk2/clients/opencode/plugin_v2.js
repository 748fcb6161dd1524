// Vlk²: the memory of what did not work. Hands each tool call of opencode 2 to `vlk2-hook opencode` and passes on
// what it answers. Whatever goes wrong here, opencode goes on as if this file were not there.
// Written by `vlk2 install opencode`, taken away by `vlk2 uninstall opencode`.
import { spawn } from "node:child_process"

const HOOK = "__VLK2_HOOK__"
const PATIENCE = 2000 // milliseconds; the hook keeps a deadline of its own that is far below

const ask = (message) =>
  new Promise((resolve) => {
    let out = ""
    let child
    const done = () => {
      clearTimeout(timer)
      try {
        resolve(out.trim() ? JSON.parse(out) : {})
      } catch {
        resolve({})
      }
    }
    const timer = setTimeout(() => {
      child?.kill()
      out = ""
      done()
    }, PATIENCE)
    try {
      child = spawn(HOOK[0], HOOK.slice(1), { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    } catch {
      return done()
    }
    child.on("error", done)
    child.on("close", done)
    child.stdout.on("data", (part) => (out += part))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(message))
  })

class Refused extends Error {}

// The text that the model reads of a result: a list of content parts, or a plain text.
const shown = (result) => {
  if (typeof result === "string") return result
  if (Array.isArray(result?.content)) return result.content.map((part) => part?.text ?? "").join("\n")
  return typeof result?.output === "string" ? result.output : JSON.stringify(result ?? "")
}

const append = (result, text) => {
  if (Array.isArray(result?.content)) result.content = [...result.content, { type: "text", text }]
  else if (typeof result?.output === "string") result.output = `${result.output}\n\n${text}`
}

const exitOf = (result) => [result?.structured?.exit, result?.metadata?.exit, result?.output?.exit].find((code) => typeof code === "number")

export default {
  id: "vlk2",
  async setup(ctx) {
    const directory = ctx.location?.directory ?? process.cwd()
    const worktree = ctx.location?.project?.directory ?? ctx.location?.worktree ?? directory
    const told = new Map() // session -> what is still to be put into its system prompt
    const begun = new Set()
    const say = (event, session, more = {}) => ask({ event, session, directory, worktree, ...more })
    const call = (ev) => ({ tool: ev.tool, call: ev.id, message: ev.messageID, args: ev.input })

    ctx.session.hook("prompt", async (ev) => {
      await say("prompt", ev.sessionID)
    })
    ctx.session.hook("context", async (ev) => {
      if (ev.kind && ev.kind !== "primary") return
      if (!begun.has(ev.sessionID)) {
        begun.add(ev.sessionID)
        const { context } = await say("start", ev.sessionID, { source: "startup" })
        if (context) told.set(ev.sessionID, context)
      }
      const text = told.get(ev.sessionID)
      if (text && Array.isArray(ev.system)) ev.system.push({ type: "text", text })
    })
    ctx.session.hook("compaction", async (ev) => {
      const { context } = await say("compaction", ev.sessionID)
      if (context) told.set(ev.sessionID, context)
    })
    ctx.tool.hook("execute.before", async (ev) => {
      const { refuse } = await say("call", ev.sessionID, call(ev))
      if (refuse) throw new Refused(refuse)
    })
    ctx.tool.hook("execute.after", async (ev) => {
      if (ev.status === "error") {
        const error = String(ev.error?.message ?? ev.error ?? "")
        if (error.startsWith("[SYSTEM ANCHOR] Not run:")) return
        await say("result", ev.sessionID, { ...call(ev), error })
        return
      }
      const exit = exitOf(ev.result)
      const more = exit === undefined ? {} : { exit }
      const { context } = await say("result", ev.sessionID, { ...call(ev), output: shown(ev.result), ...more })
      if (context) append(ev.result, context)
    })
  },
}
