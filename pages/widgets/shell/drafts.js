// What Streamlit leaves to chance: unsent text is kept, the focus stays where a person acts, Ctrl+Enter sends, a
// run that is opened begins at its top, and an answer that comes out of sight is told.
export default function () {
  if (window.touchstoneTyping) return
  window.touchstoneTyping = true
  const left = (field) => field.dispatchEvent(new FocusEvent("focusout", { bubbles: true }))
  let timer
  const keep = (field) => {
    if (!(field instanceof HTMLTextAreaElement)) return
    clearTimeout(timer)
    timer = setTimeout(() => left(field), 400)
  }
  document.addEventListener("input", (event) => keep(event.target))
  keep(document.activeElement)  // it was typed before this was here

  // The control that a person acted on, with the names of the boxes around it (of those around the menu it is in,
  // too) and its place in each. When it goes, what is drawn in its place has the focus, else the one before it; else
  // the first control of the nearest box.
  let held = null, outside = []
  const CONTROLS = ":is(button, input, textarea, summary, a, [role=tab]):not(:disabled)"
  const name = (one) => one.getAttribute("aria-label") || one.textContent
  const list = (box) => [...document.querySelectorAll(`.${CSS.escape(box)} ${CONTROLS}`)].filter((one) => one.checkVisibility())
  const hold = (one) => {
    const boxes = []
    for (let box = one; box && !box.matches(".st-key-panes"); box = box.parentElement)
      for (const key of box.classList) if (key.startsWith("st-key-")) boxes.push([key, list(key).indexOf(one)])
    if (one.closest("[data-testid=stPopoverBody]")) boxes.push(...outside)
    else if (boxes.length) outside = boxes  // the options of a list stand apart
    held = { one, name: name(one), boxes, lost: 0 }
  }
  const focus = ([box, place]) => {
    const found = list(box), before = held
    const again = found.find((one) => name(one) === held.name) ?? found[place] ?? found[place - 1] ?? found[0]
    again?.focus({ preventScroll: true })
    if (again) held = { ...before, one: again, lost: 0 }
    return Boolean(again)
  }
  const restore = () => {
    if (!held || document.activeElement !== document.body) return
    if (held.one.isConnected && !held.one.disabled) {
      if (held.isHidden && held.one.checkVisibility({ visibilityProperty: true })) held.one.focus({ preventScroll: true })
      return
    }
    if (!held.boxes.length || focus(held.boxes[0])) return
    held.lost ||= performance.now()
    if (performance.now() - held.lost < 700) setTimeout(restore, 200)
    else held.boxes.slice(1).some(focus)
  }
  document.addEventListener("pointerdown", () => (held = null), true)
  document.addEventListener("focusin", (event) => hold(event.target), true)
  document.addEventListener("focusout", () => {
    if (held) held.isHidden = !held.one.checkVisibility({ visibilityProperty: true })
  }, true)
  if (document.activeElement !== document.body) hold(document.activeElement)

  // Which run is shown and how it stands, by the line that says so: the address may name the next one already.
  let run = new URLSearchParams(location.search).get("run"), status = ""
  const keepPlace = (least) => {
    const page = document.querySelector(".stMainBlockContainer > div")
    if (page) page.style.minHeight = least && `${least - page.offsetTop}px`
  }
  const follow = () => {
    const line = document.querySelector(".ts-now[data-run]")
    if (run !== line?.dataset.run) document.querySelector(".ts-ready")?.remove()
    if (!line) return keepPlace("")
    if (run !== line.dataset.run) {
      ;[run, status] = [line.dataset.run, ""]
      keepPlace("")
      document.querySelector(".stMain").scrollTop = 0
    }
    if (status === "running" && line.dataset.status === "review") tell()
    status = line.dataset.status
  }
  const tell = () => {
    const answer = document.querySelector(".st-key-pane-answer"), main = document.querySelector(".stMain")
    if (!answer || (answer.checkVisibility() && main.scrollTop < 200)) return
    const ready = Object.assign(document.createElement("button"), { className: "ts-ready", textContent: "Your answer is ready ↑" })
    ready.setAttribute("role", "status")
    ready.onclick = () => {
      if (!answer.checkVisibility()) document.querySelector(".st-key-pane-switch :is(button, input)")?.click()
      main.scrollTo({ top: 0 })
      ready.remove()
    }
    document.querySelector(".stApp").append(ready)
  }
  // A page that gets shorter below the reader does not scroll: it ends no higher than what is seen of it.
  document.addEventListener("scroll", ({ target }) => {
    if (target.matches?.(".stMain") && document.querySelector(".ts-now[data-run]"))
      keepPlace(target.scrollTop && target.scrollTop + target.clientHeight)
  }, true)
  new MutationObserver(() => (follow(), restore())).observe(document.body, {
    childList: true, subtree: true, attributeFilter: ["data-status", "data-run", "disabled"],
  })

  // On a phone the list of screens closes on a choice.
  document.addEventListener("click", (event) => {
    if (innerWidth > 768 || !event.target.closest("[data-testid=stSidebarNavLink]")) return
    document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
  })

  // A server that is gone is told in our words; the page goes on by itself when it is back.
  const gone = document.createElement("div")
  gone.className = "server-gone"
  gone.setAttribute("role", "status")
  document.body.append(gone)
  const app = document.querySelector(".stApp")
  const look = () => {
    const isHere = app.dataset.testConnectionState === "CONNECTED"
    setTimeout(() => {
      const state = app.dataset.testConnectionState
      const said = "Touchstone does not answer. What you see stays; the page goes on when it is back."
      gone.textContent = state === "CONNECTED" ? "" : said
    }, isHere ? 0 : 1000)
  }
  new MutationObserver(look).observe(app, { attributeFilter: ["data-test-connection-state"] })

  document.addEventListener("keydown", (event) => {
    const field = event.target
    const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey)
    if (!isSend || !(field instanceof HTMLTextAreaElement)) return
    const form = field.closest('[data-testid="stVerticalBlock"]')
    const primary = '[data-testid="stBaseButton-primary"]:not(:disabled)'
    const found = form?.querySelectorAll(primary) ?? []
    if (found.length !== 1 || found[0].querySelector("[data-has-shortcut=true]")) return
    left(field)
    found[0].click()
  })
}
