"""What can be said of looks by measuring, as scripts for a page: controls without a name, and texts that do
not stand out."""

from __future__ import annotations

NAMELESS = """() => [...document.querySelectorAll('.stMain button, .stMain input, .stMain textarea, .stMain a, .stMain summary, .stMain [role=tab]')]
  .filter(e => e.checkVisibility() && e.getBoundingClientRect().width > 1 && !e.closest('[aria-hidden=true]'))
  .filter(e => !(e.innerText || '').trim() && !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby')
    && !e.getAttribute('title') && !(e.labels && e.labels.length) && !e.closest('[aria-label]'))
  .map(e => e.outerHTML.slice(0, 120))"""

PALE = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true})
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = colour
    canvas.fillRect(0, 0, 1, 1)
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data
    return [r, g, b, a / 255]
  }
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]))
  const linear = v => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
  const behind = e => {
    const layers = []
    for (let n = e; n; n = n.parentElement) layers.unshift(rgba(getComputedStyle(n).backgroundColor))
    return layers.reduce((below, top) => over(top, below), [255, 255, 255])
  }
  const seen = e => {
    let shown = 1
    for (let n = e; n; n = n.parentElement) shown *= getComputedStyle(n).opacity
    return shown
  }
  const pale = []
  const judge = (e, colour, shown, text) => {
    const back = behind(e), ink = over([...rgba(colour).slice(0, 3), rgba(colour)[3] * shown], back)
    const [a, b] = [light(ink), light(back)].sort((x, y) => y - x)
    const ratio = (a + 0.05) / (b + 0.05)
    if (ratio < 4.5) pale.push(ratio.toFixed(2) + ' ' + e.className + ': ' + text.slice(0, 40))
  }
  for (const e of document.querySelectorAll('.stApp *, [data-testid=stPopoverBody] *, [role=dialog] *')) {
    if (!e.checkVisibility({visibilityProperty: true}) || e.getBoundingClientRect().width <= 1) continue  // or for readers alone
    if (e.matches(':disabled, :disabled *, [data-disabled=true] *, [aria-disabled=true] *, [aria-hidden=true], [aria-hidden=true] *, canvas *, svg *, style, script')) continue
    const text = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent.trim()).join(' ')
    if (text.trim()) judge(e, getComputedStyle(e).color, seen(e), text)
    const hint = getComputedStyle(e, '::placeholder')
    if (e.placeholder && !e.value) judge(e, hint.color, seen(e) * hint.opacity, e.placeholder)
  }
  return [...new Set(pale)]
}"""

FOCUS = """async () => {
  const e = document.activeElement
  if (!e || e === document.body || e.id === 'stMain' || e.closest('[data-testid=stHeader], iframe')) return ['', true]
  const looks = () => {
    const told = []
    for (let n = e, up = 0; n && up < 5; n = n.parentElement, up++) {
      const style = getComputedStyle(n)
      told.push(style.outlineStyle === 'none' ? '' : style.outline, style.boxShadow, style.borderColor, style.backgroundColor)
    }
    return told.join('|')
  }
  const settled = async () => {  // a look that fades in is judged when it is there
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame)
    await Promise.all(document.getAnimations().filter(a => a instanceof CSSTransition).map(a => a.finished.catch(() => 0)))
  }
  await settled()
  const focused = looks()
  e.blur()
  let plain = looks()
  for (let frame = 0; frame < 60 && plain === focused; frame++) {
    await new Promise(requestAnimationFrame)
    plain = looks()
  }
  e.focus({focusVisible: true, preventScroll: true})
  return [e.outerHTML.slice(0, 120), focused !== plain]
}"""
"""The control that has the focus, and whether it looks otherwise than without."""
