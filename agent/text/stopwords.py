"""Words that carry no content: function words of several languages, and common English words that say little.
Data only."""

from __future__ import annotations

_FUNCTION_WORDS = """
a an the this that these those and or but nor if then than as at by for from in into of off on onto out over per to up upon via with
within without about above across after against along among around before behind below beneath beside between beyond during except
inside near since through throughout till until toward towards under is am are was were be been being do does did doing done has have
had having can could may might must shall should will would it its he him his she her hers they them their theirs we us our ours you
your yours i me my mine who whom whose which what when where why how there here not no so such both either neither each every any all
some other another own same very too also just only again more most much many few less least whats whos wheres hows dont doesnt didnt
isnt arent wasnt werent im ive id youre its thats s t d ll re ve please tell give find know mean means
der die das den dem des ein eine einer eines einem einen und oder aber nicht ist sind war waren wird werden wurde wurden hat haben
hatte im am zum zur von vom mit bei aus auf fur uber unter nach vor seit wie was wer wo wann warum welche welcher welches wem wen
sich es er sie ich du wir ihr als auch nur noch dass
och eller men inte ar var blir blev har hade en ett den det de som pa av till fran med hos om vid efter mellan hur vad vem
vilken vilket vilka nar varfor sin sitt sina han hon jag vi ni dem detta denna att
le la les un une des du et ou mais ne pas est sont etait etaient ete etre a ont avait au aux dans sur sous par pour avec sans chez
qui que quoi dont ou quand comment pourquoi quel quelle quels quelles ce cet cette ces il elle ils elles je tu nous vous son sa ses
el los las uno una unos unas y o pero no es son era fue fueron ser estar esta del al en con por para sin sobre entre quien que cual
cuales cuando donde como cuanto cuanta cuantos cuantas su sus lo se mas
il lo gli i uno e ed o ma non sono era di da dal della delle dei degli nel nella con su per tra fra chi che cosa quale quali quando
dove come quanto quanti
het een van zijn was waren wordt op te met voor aan bij uit naar door wie wat waar wanneer waarom welke hoe niet
os as um uma uns umas do dos da das no na nos nas em com por para sem foi eram quem qual quais quando onde quanto
og er var et den til fra med hvem hvad hva hvor hvornar nar hvorfor hvilken hvilket
"""

_COMMON_WORD_LIST = """
time year people way day man woman thing world life hand part place case week company system program question work government number
night point home water room mother area money story fact month lot right study book eye job word business issue side kind head house
service friend father power hour game line end member law car city community name president team minute idea kid body information back
parent face others level office door health person art war history party result change morning reason research girl guy moment air
teacher force education first last long great little old new good big high different small large next early young important few public
bad same able use used make made take took taken come came see saw seen get got go went gone think say said become became show shown
play played plays run move live lived believe hold bring happen write written provide sit stand lose pay meet include continue set
learn lead understand watch follow stop create speak read allow add spend grow open walk win won offer remember love consider appear
appeared buy wait serve die died send expect build stay fall cut reach kill remain suggest raise pass sell require report decide pull
film movie song album series season show episode country state states united national american british english born birth death date
known called named based located also one two three four five six seven eight nine ten second third group music band actor director
author character release released start started begin began publish published found founded form formed original version list type
common main major began current present total early late best most top general
"""

STOPWORDS = frozenset(_FUNCTION_WORDS.split())
"""Function words, folded as `words.fold` folds."""

COMMON_WORDS = frozenset(_COMMON_WORD_LIST.split())
"""Content words so common in English that matching one of them says little."""
